# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that follow from an object's size, and quick guesses of what they will make.

Everything that falls looks the same at every size if times grow with the square root of lengths: a
mouse wobbles faster than an elephant. Frequencies, damping, drag, flow and falloff are therefore kept
here for a body of one metre and divided by that root, and pressure is counted in the body's own
weight.
"""
import math

import numpy as np

from ..bridge import meshes

GRAVITY = 9.81
# Particles over volume / spacing^3 and over area / spacing^2, as the library scatters them.
PER_VOLUME = {"BLUE_NOISE": .73, "GRID": 1.0}
PER_AREA = .6
PARTICLES_PER_CLUSTER = 30


def extents(obj):
    """The lengths of an object's bounding box along its own axes, in the world: of a mesh as it is
    modelled, whatever a bake makes of it at the current frame."""
    corners = np.array(obj.bound_box, dtype=np.float64)
    if obj.type == "MESH" and len(obj.data.vertices):
        corners = meshes.positions(obj.data).astype(np.float64)
        corners = corners[np.isfinite(corners).all(axis=1)]
    local = np.ptp(corners, axis=0) if len(corners) else np.zeros(3)
    lengths = [column.length for column in obj.matrix_world.to_3x3().col]
    return tuple(float(size * length) for size, length in zip(local, lengths))


def size(obj):
    """The largest of them; 1 where there is none to speak of."""
    largest = max(extents(obj))
    return largest if math.isfinite(largest) and largest > 1e-9 else 1.0


_measured = {}  # (mesh, counts, hash of some vertices) -> volume and area in the object's space
SAMPLED = 4096  # vertices by which an edited mesh is known


def measure(obj):
    """(volume, area) of an object's mesh in the world. Kept, as panels ask often."""
    mesh = obj.data
    places = meshes.positions(mesh)
    some = places[::max(1, len(places) // SAMPLED)]
    key = (mesh.name_full, len(mesh.vertices), len(mesh.polygons), hash(some.tobytes()))
    if key not in _measured:
        if len(_measured) > 256:
            _measured.clear()
        _measured[key] = _measure_mesh(mesh)
    volume, area = _measured[key]
    scale = abs(obj.matrix_world.to_3x3().determinant())
    return volume * scale, area * scale ** (2 / 3)


def _measure_mesh(mesh):
    count = len(mesh.polygons)
    if not count:
        return 0.0, 0.0
    areas = np.empty(count, np.float32)
    centres, normals = np.empty(count * 3, np.float32), np.empty(count * 3, np.float32)
    mesh.polygons.foreach_get("area", areas)
    mesh.polygons.foreach_get("center", centres)
    mesh.polygons.foreach_get("normal", normals)
    centres = centres.reshape(-1, 3).astype(np.float64)
    centres -= centres.mean(axis=0)
    towards = np.einsum("ij,ij->i", centres, normals.reshape(-1, 3))
    with np.errstate(all="ignore"):
        volume, area = abs(float(np.dot(towards, areas))) / 3, float(areas.sum(dtype=np.float64))
    return (volume, area) if math.isfinite(volume + area) else (0.0, 0.0)


def _is_solid(volume, area):
    """Whether there is something inside to fill: against a ball of that area."""
    return area > 0 and volume > .02 * area ** 1.5 / (6 * math.sqrt(math.pi))


def sampled_kind(obj, sampling=None):
    """The sampling that Auto will come to."""
    sampling = sampling or obj.pliant.particles.sampling
    if sampling in ("SURFACE", "VERTICES"):
        return sampling
    if not _is_solid(*measure(obj)):
        return "SURFACE"
    return "BLUE_NOISE" if sampling == "AUTO" else sampling


def guess_count(obj):
    """About how many particles the settings will give."""
    settings = obj.pliant.particles
    kind = sampled_kind(obj)
    if kind == "VERTICES":
        return len(obj.data.vertices)
    if settings.mode == "COUNT":
        return settings.count
    volume, area = measure(obj)
    if kind == "SURFACE":
        return max(4, round(PER_AREA * area / settings.spacing ** 2))
    return max(4, round(PER_VOLUME[kind] * volume / settings.spacing ** 3))


def guess_spacing(obj, count):
    """About how far apart that many particles are."""
    volume, area = measure(obj)
    kind = sampled_kind(obj)
    if kind in ("SURFACE", "VERTICES"):
        return math.sqrt(PER_AREA * area / count) if area > 0 else size(obj) / math.sqrt(count)
    return (PER_VOLUME[kind] * volume / count) ** (1 / 3)


def guess_clusters(obj, particles):
    """About how many clusters the finest level will have."""
    settings = obj.pliant.clusters
    if settings.count_mode == "COUNT":
        return settings.count
    if settings.count_mode == "AUTO":
        return max(1, round(particles / PARTICLES_PER_CLUSTER))
    spacing = guess_spacing(obj, max(4, particles))
    width = 2 if sampled_kind(obj) in ("SURFACE", "VERTICES") else 3
    return max(1, round(particles * (spacing / settings.size) ** width))


def scaled(values, length):
    """Material values kept for a body of one metre, for one of another size."""
    root = math.sqrt(length)
    made = dict(values)
    for name in ("frequency", "damping", "drag", "flow", "falloff"):
        if name in made:
            made[name] = made[name] / root
    if "pressure" in made:
        made["pressure"] = made["pressure"] * made.get("density", 1000.0) * GRAVITY * length
    return made


def fit(obj):
    """Sets what depends on the object's size, for a first bake that looks right."""
    from . import presets
    settings = obj.pliant
    length = size(obj)
    settings.fitted_size = length
    if obj.type != "MESH":
        return
    presets.apply(obj, presets.FIRST)
    count = settings.particles.count
    settings.particles.spacing = guess_spacing(obj, count)
    settings.clusters.size = (PARTICLES_PER_CLUSTER ** (1 / 3)) * settings.particles.spacing
    settings.clusters.radius = 1.5 * settings.clusters.size
