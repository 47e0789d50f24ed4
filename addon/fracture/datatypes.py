# SPDX-License-Identifier: GPL-3.0-or-later
"""Data types of this package: input and output as plain arrays, with validation.

Everything is in material space: the coordinates of the mesh and of the particles at rest. Times are
in one unit of the caller's choice (frames or seconds); infinity means "never parted".
"""

from dataclasses import dataclass, field

import numpy as np

MOST_SLOTS = 2**15 - 1  # of materials, as in Blender
FARTHEST = 100  # body sizes that its mesh may extend beyond it: the grid covers all of it


class CrackError(Exception):
    """A sentence for the user: the mesh cannot be cut, and nothing was changed."""


@dataclass
class Surface:
    """A mesh of polygons with its data layers: arrays of rows by name.

    Corner layers are interpolated within a face, point layers within a triangle of it; face layers
    are copied. A layer named in `normals` holds unit vectors (custom normals), which are
    normalised again.
    """

    vertices: np.ndarray  # (n, 3) float64
    face_start: np.ndarray  # (f + 1): where each face's corners begin
    corners: np.ndarray  # vertex of each corner
    material: np.ndarray = None  # (f,) slot of each face; None: all 0
    corner_layers: dict = field(default_factory=dict)  # name -> (corners, k): UVs, normals, colours
    point_layers: dict = field(default_factory=dict)  # name -> (n, k): vertex groups, attributes
    face_layers: dict = field(default_factory=dict)  # name -> (f, k)
    normals: tuple = ()
    triangles: np.ndarray = None  # (t, 3) corners, as faces are drawn; None: see cut.triangulate
    triangle_face: np.ndarray = None  # (t,)


@dataclass
class Particles:
    """The final set of particles of one body, and its connectivity history.

    A copy made by a split has a parent (an index into the same arrays) and the same rest position
    as its parent. `pairs` lists particles that shared a cluster: `until` is infinity for a pair that shares
    one in the last frame, otherwise the time at which it last did. Pairs of copies may be left out
    if their ancestors are listed: until its birth a copy is its parent. Groups of the last
    frame become pairs with `pairs_of_groups`.

    `splits` are the planes in material space that divided single particles: at `split_time` copy
    `split_old` was divided, `split_new` took the side that the normal points to. `planes` are those
    that divided clusters (centre, normal, reach, time): faces of cracks near them are drawn
    toward them. Both may be empty.

    `cell_point`: of bodies that break along a pattern of Voronoi cells only, the cells' points.
    """

    rest: np.ndarray  # (p, 3)
    parent: np.ndarray  # (p,) -1: an original particle
    birth: np.ndarray  # (p,) time of the split that made it; originals -infinity
    pairs: np.ndarray  # (m, 2)
    until: np.ndarray  # (m,)
    spacing: float = 0.0  # distance of neighbours at rest; 0: estimated
    split_old: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    split_new: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    split_point: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    split_normal: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    split_time: np.ndarray = field(default_factory=lambda: np.zeros(0))
    plane_point: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    plane_normal: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    plane_reach: np.ndarray = field(default_factory=lambda: np.zeros(0))
    plane_time: np.ndarray = field(default_factory=lambda: np.zeros(0))
    cell_point: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))


@dataclass
class Look:
    """Settings of crack faces."""

    detail: float = 3.0  # grid steps per particle spacing
    smoothing: float = 1.0  # 0: the steps of the grid stay; 1: smooth; more: smoother
    roughness: float = 0.0  # height of the bumps on crack faces, in spacings
    grain: float = 0.5  # width of the coarsest bumps, in spacings
    seed: int = 0
    inside_material: int = None  # slot of the crack faces; None: one after the last in use
    inside_uv_scale: float = 1.0  # UV units per unit of length on crack faces
    uv_layers: tuple = ()  # corner layers that are UVs: crack faces get box UVs there
    support: float = 2.0  # support radius of the skin, in spacings, as in the library
    most_cells: int = 3_000_000  # upper limit: above it the grid is coarser
    strictness: float = 0.85  # limit of the displacement gradient on a crack, see Sheet.unfolded


@dataclass
class Broken:
    """The mesh with its cracks. Its topology is constant over the shot.

    A vertex follows its entries of `binding`: particle, weight, and until when the entry holds
    (infinity: to the end). See binding.py for how output uses them.
    """

    surface: Surface
    inside: np.ndarray  # (f,) bool: face of a crack
    face_piece: np.ndarray  # (f,) connected part of the joined particles, 0 to pieces - 1
    piece: np.ndarray  # (n,) the same of vertices
    face_birth: np.ndarray  # (f,) time at which the crack opened; infinity: outside
    birth: np.ndarray  # (n,) the earliest of its crack faces; infinity: on none
    copy: np.ndarray  # (n,) the vertex is in the cell of this particle copy
    source_vertex: np.ndarray  # (n,) vertex of the old mesh, or -1
    source_face: np.ndarray  # (f,) face of the old mesh, or -1: made inside
    source_edge: np.ndarray  # (n, 2) ends of the old edge that a new vertex divides, or -1
    were_one: tuple = ()  # vertices, others, until when they coincide: for the binding
    binding: object = None  # binding.Binding
    warnings: list = field(default_factory=list)
    untouched: bool = False  # nothing was cut: surface is the old mesh itself


def pairs_of_groups(start, members):
    """Pairs (m, 2) of particles that are in one group, from groups one after another (clusters)."""
    found = []
    for begin, end in zip(start[:-1], start[1:]):
        group = np.unique(np.asarray(members[begin:end], np.int64))
        first, second = np.triu_indices(len(group), 1)
        found.append(np.column_stack([group[first], group[second]]))
    if not found:
        return np.zeros((0, 2), np.int64)
    return np.unique(np.concatenate(found), axis=0)


def _array(values, dtype, width, what, count=None):
    """A contiguous array of rows; width 0: of numbers."""
    values = np.ascontiguousarray(values, dtype)
    if values.ndim != (2 if width else 1) or (width and values.shape[1] != width):
        raise CrackError(f"The {what} have the shape {values.shape}.")
    if count is not None and len(values) != count:
        raise CrackError(f"There are {len(values)} {what}, not {count}.")
    return values


def check_surface(surface):
    """Converts arrays to the expected types; a CrackError if they are not valid."""
    array = _array
    surface.vertices = array(surface.vertices, np.float64, 3, "vertices")
    surface.face_start = array(surface.face_start, np.int64, 0, "starts of faces")
    surface.corners = array(surface.corners, np.int64, 0, "corners")
    faces = len(surface.face_start) - 1
    if (
        faces < 0
        or surface.face_start[0] != 0
        or surface.face_start[-1] != len(surface.corners)
        or (faces and np.diff(surface.face_start).min() < 3)
    ):
        raise CrackError("The mesh has faces of fewer than three corners.")
    if not np.isfinite(surface.vertices).all():
        at = int(np.flatnonzero(~np.isfinite(surface.vertices).all(1))[0])
        raise CrackError(f"Vertex {at} of the mesh has no position.")
    if len(surface.corners) and (surface.corners.min() < 0 or surface.corners.max() >= len(surface.vertices)):
        raise CrackError("A face of the mesh names a vertex that is not there.")
    surface.material = array(
        np.zeros(faces) if surface.material is None else surface.material, np.int64, 0, "material slots", faces
    )
    if surface.triangles is not None:
        surface.triangles = array(surface.triangles, np.int64, 3, "triangles")
        surface.triangle_face = array(surface.triangle_face, np.int64, 0, "faces of triangles", len(surface.triangles))
    for layers, count, what in (
        (surface.corner_layers, len(surface.corners), "corner"),
        (surface.point_layers, len(surface.vertices), "point"),
        (surface.face_layers, faces, "face"),
    ):
        for name, values in layers.items():
            if len(values) != count:
                raise CrackError(f"The {what} layer '{name}' has {len(values)} rows, not {count}.")


def check(surface, particles):
    """The same with its arrays converted to the expected types; a CrackError if they are not valid."""
    array = _array
    check_surface(surface)
    count = len(particles.rest)
    particles.rest = array(particles.rest, np.float64, 3, "rest positions")
    particles.parent = array(particles.parent, np.int64, 0, "parents", count)
    particles.birth = array(particles.birth, np.float64, 0, "births", count)
    particles.pairs = array(particles.pairs, np.int64, 2, "pairs")
    particles.until = array(particles.until, np.float64, 0, "times of pairs", len(particles.pairs))
    if count == 0 or not np.isfinite(particles.rest).all():
        raise CrackError("A body without particles cannot break." if count == 0 else "A particle has no rest position.")
    low, high = particles.rest.min(0), particles.rest.max(0)
    size = max((high - low).max(), particles.spacing)
    if size > 0 and (np.maximum(surface.vertices - high, low - surface.vertices) > FARTHEST * size).any():
        raise CrackError(f"The mesh reaches more than {FARTHEST} times as far as the particles of its body.")
    if (particles.parent >= np.arange(count)).any():
        at = int(np.flatnonzero(particles.parent >= np.arange(count))[0])
        raise CrackError(f"Particle {at} comes before its parent {particles.parent[at]}.")
    if len(particles.pairs) and (particles.pairs.min() < 0 or particles.pairs.max() >= count):
        raise CrackError(f"A pair names particle {particles.pairs.max()}; there are {count}.")
    splits, planes, cells = (len(v) for v in (particles.split_old, particles.plane_point, particles.cell_point))
    for name, dtype, width, number in (
        ("split_old", np.int64, 0, splits),
        ("split_new", np.int64, 0, splits),
        ("split_point", np.float64, 3, splits),
        ("split_normal", np.float64, 3, splits),
        ("split_time", np.float64, 0, splits),
        ("plane_point", np.float64, 3, planes),
        ("plane_normal", np.float64, 3, planes),
        ("plane_reach", np.float64, 0, planes),
        ("plane_time", np.float64, 0, planes),
        ("cell_point", np.float64, 3, cells),
    ):
        setattr(particles, name, array(getattr(particles, name), dtype, width, name.replace("_", " ") + "s", number))
    for name in ("split_old", "split_new"):
        values = getattr(particles, name)
        if len(values) and (values.min() < 0 or values.max() >= count):
            raise CrackError(f"A split names particle {values.max()}; there are {count}.")
    return surface, particles


def check_broken(broken, particles, like=None):
    """A CrackError unless a Broken from an untrusted file is safe to use: for this number of
    particles, made from the Surface `like`."""
    vertices, faces = (2**31, 2**31) if like is None else (len(like.vertices), len(like.face_start) - 1)

    def numbers(values, what, count, least=None, most=None, width=0):
        values = _array(values, np.asarray(values).dtype, width, what, count)
        whole = values.dtype.kind in "iub"
        if not (whole or values.dtype.kind == "f") or np.isnan(values).any():
            raise CrackError(f"The {what} are no numbers.")
        if least is not None and not (whole and (values >= least).all() and (values < most).all()):
            raise CrackError(f"The {what} are out of range.")

    surface, bound = broken.surface, broken.binding
    if not isinstance(surface, Surface) or not broken.untouched and bound is None:
        raise CrackError("The mesh with its cracks is not whole.")
    check_surface(surface)
    count, sides = len(surface.vertices), len(surface.face_start) - 1
    if not (np.abs(surface.vertices) < np.finfo(np.float32).max).all():
        raise CrackError("The vertices are out of range.")
    numbers(surface.material, "material slots", sides, 0, MOST_SLOTS)
    _check_layers(surface, like)
    for layers in (surface.corner_layers, surface.point_layers, surface.face_layers):
        for name, values in layers.items():
            if np.asarray(values).dtype.kind not in "iubf" or not np.isfinite(values).all():
                raise CrackError(f"The layer '{name}' is no numbers.")
    if surface.triangles is not None:
        numbers(surface.triangles, "triangles", None, 0, len(surface.corners), 3)
        numbers(surface.triangle_face, "faces of triangles", len(surface.triangles), 0, sides)
    numbers(broken.inside, "crack faces", sides)
    numbers(broken.piece, "pieces", count, 0, max(count, 1))
    pieces = int(np.max(broken.piece, initial=-1)) + 1
    numbers(broken.face_piece, "pieces of faces", sides, 0, pieces)
    if len(np.unique(broken.piece)) != pieces:
        raise CrackError("A piece has no vertices.")
    numbers(broken.face_birth, "births of faces", sides)
    numbers(broken.birth, "births", count)
    numbers(broken.copy, "particles of vertices", count, 0, particles)
    numbers(broken.source_vertex, "former vertices", count, -1, vertices)
    numbers(broken.source_face, "former faces", sides, -1, faces)
    numbers(broken.source_edge, "former edges", count, -1, vertices, 2)
    if bound is None:
        return
    entries = len(bound.particle)
    numbers(bound.begin, "entries of vertices", count + 1, 0, entries + 1)
    begin = np.asarray(bound.begin)
    if begin[0] != 0 or begin[-1] != entries or (np.diff(begin) < 1).any():
        raise CrackError("A vertex follows nothing.")
    numbers(bound.particle, "particles of entries", entries, 0, particles)
    numbers(bound.kernel, "weights", entries)
    numbers(bound.until, "times of entries", entries)
    numbers(bound.before, "vertices before", count, 0, max(count, 1))
    numbers(bound.birth, "births of vertices", count)
    if (
        not np.isfinite(bound.kernel).all()
        or (np.asarray(bound.kernel) < 0).any()
        or (np.asarray(bound.before) > np.arange(count)).any()
    ):
        raise CrackError("The weights are out of range.")
    if not (isinstance(bound.spacing, (int, float)) and 0 < bound.spacing < np.inf):
        raise CrackError("The spacing is out of range.")


def _check_layers(surface, like):
    """A CrackError unless the layers are those of the mesh that was cut, with equal widths."""
    for kind in ("corner_layers", "point_layers", "face_layers") if like is not None else ():
        layers = getattr(surface, kind)
        for name, values in getattr(like, kind).items():
            if name not in layers or layers[name].shape[1:] != np.asarray(values).shape[1:]:
                raise CrackError(f"The layer '{name}' is not that of the mesh.")
