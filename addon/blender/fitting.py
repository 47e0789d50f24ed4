# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that follow from an object's size, and quick estimates of their results.

Motion under gravity looks the same at every size if times scale with the square root of lengths: a
mouse wobbles faster than an elephant. Frequencies, damping, drag, flow and falloff are therefore
stored here for a body of one metre and divided by that root, and pressure is relative to the body's
weight. Stronger gravity shortens times in the same way. Lengths are in Blender units unless they
are said to be in metres.
"""

import math
from dataclasses import dataclass

import numpy as np

from .settings import metres
from . import meshes

GRAVITY = 9.81
# Ratio of particles to volume / spacing^3 and to area / spacing^2, as the library samples.
PER_VOLUME = {"BLUE_NOISE": 0.73, "GRID": 1.0}
PER_AREA = 0.6
PARTICLES_PER_CLUSTER = 30
LEAST_IN_A_CLUSTER = 3  # whatever size of clusters is set


def extents(obj):
    """Side lengths of an object's bounding box along its own axes, in world units: for a mesh as it
    is modelled, independent of a bake at the current frame."""
    corners = np.array(obj.bound_box, dtype=np.float64)
    if obj.type == "MESH" and len(obj.data.vertices):
        corners = meshes.positions(obj.data).astype(np.float64)
        corners = corners[np.isfinite(corners).all(axis=1)]
    local = np.ptp(corners, axis=0) if len(corners) else np.zeros(3)
    lengths = [column.length for column in obj.matrix_world.to_3x3().col]
    return tuple(float(size * length) for size, length in zip(local, lengths))


def size(obj):
    """The largest of them; 1 if it is zero."""
    largest = max(extents(obj))
    return largest if math.isfinite(largest) and largest > 1e-9 else 1.0


@dataclass
class Measured:
    """Measures of a mesh, in its own space."""

    volume: float
    area: float
    holes: float  # area of disks that would close the holes
    longest: float  # edge


_measured = {}  # (mesh, counts, hash of some vertices) -> Measured
SAMPLED = 4096  # vertices that are hashed to notice an edited mesh
MOST_OPEN = 0.3  # area of holes over area: above it a mesh encloses no volume, as in the library
LONG = 0.3  # edge length over object size above which the edge is too long to bend with the body


def _known(mesh):
    """Cached, since panels ask at every redraw."""
    places = meshes.positions(mesh)
    some = places[:: max(1, len(places) // SAMPLED)]
    key = (mesh.name_full, len(mesh.vertices), len(mesh.polygons), hash(some.tobytes()))
    if key not in _measured:
        if len(_measured) > 256:
            _measured.clear()
        _measured[key] = Measured(*_volume_and_area(mesh), *_edges(mesh))
    return _measured[key]


def measure(obj):
    """(volume, area) of an object's mesh in the world."""
    known = _known(obj.data)
    scale = abs(obj.matrix_world.to_3x3().determinant())
    return known.volume * scale, known.area * scale ** (2 / 3)


def encloses(obj):
    """Whether an object's mesh encloses a volume, apart from small holes."""
    known = _known(obj.data)
    return known.area > 0 and known.holes < MOST_OPEN * known.area and _is_solid(*measure(obj))


def is_coarse(obj):
    """Whether some edges are too long for visible deformation, as in a plain cube."""
    scale = abs(obj.matrix_world.to_3x3().determinant()) ** (1 / 3)
    return _known(obj.data).longest * scale > LONG * size(obj)


def skin_size(obj):
    """Side of a square with the area of the object's surface."""
    area = measure(obj)[1]
    return math.sqrt(area) if area > 0 else size(obj)


def _edges(mesh):
    """(area of all holes, length of the longest edge)."""
    count = len(mesh.edges)
    if not count:
        return 0.0, 0.0
    ends, used = np.empty(2 * count, np.int32), np.empty(len(mesh.loops), np.int32)
    mesh.edges.foreach_get("vertices", ends)
    mesh.loops.foreach_get("edge_index", used)
    corners = meshes.positions(mesh).astype(np.float64)[ends.reshape(-1, 2)]
    lengths = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
    lengths = np.where(np.isfinite(lengths), lengths, 0.0)
    faces = np.bincount(used, minlength=count)
    # as if all were one hole: the upper bound
    holes = float(lengths[faces == 1].sum()) ** 2 / (4 * math.pi)
    return holes, float(lengths[faces > 0].max(initial=0.0))


def _volume_and_area(mesh):
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
    """Whether a volume is large enough to be filled: compared with a ball of that area."""
    return area > 0 and volume > 0.02 * area**1.5 / (6 * math.sqrt(math.pi))


def sampled_kind(obj, sampling=None):
    """The sampling that Auto resolves to."""
    sampling = sampling or obj.pliant.particles.sampling
    if sampling in ("SURFACE", "VERTICES"):
        return sampling
    if not _is_solid(*measure(obj)):
        return "SURFACE"
    return "BLUE_NOISE" if sampling == "AUTO" else sampling


def guess_count(obj):
    """Estimated number of particles."""
    settings = obj.pliant.particles
    kind = sampled_kind(obj)
    if kind == "VERTICES":
        return len(obj.data.vertices)
    if settings.mode == "COUNT":
        return settings.count
    volume, area = measure(obj)
    if kind == "SURFACE":
        return max(4, round(PER_AREA * area / settings.spacing**2))
    return max(4, round(PER_VOLUME[kind] * volume / settings.spacing**3))


def guess_spacing(obj, count):
    """Estimated distance of that many particles."""
    volume, area = measure(obj)
    kind = sampled_kind(obj)
    if kind in ("SURFACE", "VERTICES"):
        return math.sqrt(PER_AREA * area / count) if area > 0 else size(obj) / math.sqrt(count)
    return (PER_VOLUME[kind] * volume / count) ** (1 / 3)


def guess_clusters(obj, particles):
    """Estimated number of clusters of the finest level."""
    settings = obj.pliant.clusters
    if settings.count_mode == "COUNT":
        return settings.count
    if settings.count_mode == "AUTO":
        return max(1, round(particles / PARTICLES_PER_CLUSTER))
    spacing = guess_spacing(obj, max(4, particles))
    width = 2 if sampled_kind(obj) in ("SURFACE", "VERTICES") else 3
    return max(1, min(round(particles * (spacing / settings.size) ** width), particles // LEAST_IN_A_CLUSTER))


def gravity(scene):
    """Acceleration for fitting, in metres: at least Earth's, or that of a new scene if units are
    smaller."""
    metre = metres(scene)
    pull = metre * math.sqrt(sum(value * value for value in scene.gravity))
    return max(GRAVITY * min(1.0, metre), pull)


def scaled(values, length, pull=GRAVITY):
    """Converts material values for a body of one metre to another size in metres."""
    root = math.sqrt(length * GRAVITY / pull)
    made = dict(values)
    for name in ("frequency", "damping", "drag", "flow", "falloff"):
        if name in made:
            made[name] = made[name] / root
    if "pressure" in made:
        made["pressure"] = made["pressure"] * made.get("density", 1000.0) * pull * length
    return made
