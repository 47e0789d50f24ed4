# SPDX-License-Identifier: GPL-3.0-or-later
"""Boolean intersection of the mesh with the opened solid, by manifold3d.

Every triangle of both has an id, so that each result triangle is known to be a part of one of them;
all layers are interpolated from there (assemble.py). The solid's gap is carried as three more
vertex properties and subtracted afterwards.
"""

import importlib
from dataclasses import dataclass

import numpy as np

from .datatypes import CrackError

MISSING = (
    "The package manifold3d, which cuts meshes along cracks, is not installed: "
    "install the extension from its zip, which brings it, or manifold3d from PyPI."
)


def library():
    """The module manifold3d, of the extension's own wheel or of this Python; otherwise a
    CrackError."""
    for name in ("pliant_native.manifold3d", "manifold3d"):
        try:
            return importlib.import_module(name)
        except ImportError as error:
            reason = error
    raise CrackError(MISSING) from reason


@dataclass
class Triangles:
    """The faces of a surface as triangles of its corners."""

    corner: np.ndarray  # (t, 3)
    face: np.ndarray  # (t,)


@dataclass
class Pieces:
    """The cut mesh as triangles. `source`: a triangle of the mesh or, if `inside`, of the sheets."""

    vertices: np.ndarray
    triangles: np.ndarray
    inside: np.ndarray
    source: np.ndarray


def triangulate(surface):
    """Triangles of every face. The surface's own triangles, if it has any: with others, cracks
    would show where faces are not flat. Otherwise quads are divided along the diagonal that
    keeps both halves facing alike, larger faces by manifold3d's triangulation of their outline
    projected along their normal."""
    if surface.triangles is not None:
        return Triangles(surface.triangles, surface.triangle_face)
    start, count = surface.face_start[:-1], np.diff(surface.face_start)
    corners, faces = [], []
    three = np.flatnonzero(count == 3)
    corners.append(start[three, None] + np.arange(3))
    faces.append(three)
    four = np.flatnonzero(count == 4)
    if len(four):
        index = start[four, None] + np.arange(4)
        p = surface.vertices[surface.corners[index]]
        halves = []
        for a, b, c, d in ((0, 1, 2, 3), (1, 2, 3, 0)):
            one = np.cross(p[:, b] - p[:, a], p[:, c] - p[:, a])
            two = np.cross(p[:, c] - p[:, a], p[:, d] - p[:, a])
            halves.append((one * two).sum(1))
        turn = (halves[0] <= 0) & (halves[1] > 0)
        a = np.where(turn[:, None], np.roll(index, -1, 1), index)
        corners.append(np.stack([a[:, [0, 1, 2]], a[:, [0, 2, 3]]], 1).reshape(-1, 3))
        faces.append(np.repeat(four, 2))
    for face in np.flatnonzero(count > 4):
        index = start[face] + np.arange(count[face])
        corners.append(index[fill(surface.vertices[surface.corners[index]])])
        faces.append(np.full(count[face] - 2, face))
    corner, face = np.concatenate(corners), np.concatenate(faces)
    order = np.argsort(face, kind="stable")
    return Triangles(corner[order], face[order])


def fill(points):
    """Triangles (n - 2, 3) of a polygon, also a concave one; a fan if that fails."""
    normal = np.cross(points - points[0], np.roll(points, -1, 0) - points[0]).sum(0)
    axis = int(np.abs(normal).argmax())
    flat = np.delete(points, axis, 1)
    if (normal[axis] < 0) != (axis == 1):
        flat = flat * [1, -1]
    try:
        found = np.asarray(library().triangulate([np.ascontiguousarray(flat)]), np.int64)
    except (CrackError, ValueError, RuntimeError):
        found = np.zeros((0, 3), np.int64)
    n = len(points)
    if found.shape != (n - 2, 3):
        found = np.column_stack([np.zeros(n - 2, np.int64), np.arange(1, n - 1), np.arange(2, n)])
    return found


def closed(triangles):
    """Whether every edge has exactly one triangle on each side."""
    edge = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    if not len(edge):
        return False
    size = int(edge.max()) + 1
    forward = np.sort(edge[:, 0] * size + edge[:, 1])
    backward = np.sort(edge[:, 1] * size + edge[:, 0])
    return bool((forward[1:] != forward[:-1]).all() and (forward == backward).all())


def cut(vertices, triangles, sheets):
    """Pieces of a closed mesh, or None if the library does not accept the mesh as a solid."""
    tool = library()
    # far from the origin, digits would be lost
    middle = (vertices.min(0) + vertices.max(0)) / 2
    body_id = tool.Manifold.reserve_ids(2)
    body = solid(tool, vertices - middle, np.zeros_like(vertices), triangles, body_id)
    if body.status() != tool.Error.NoError or body.is_empty() or not body.volume() > 0:
        return None
    space = solid(tool, sheets.vertices - middle, sheets.back, sheets.triangles(), body_id + 1)
    if space.status() != tool.Error.NoError:
        raise CrackError(f"The cracks form no solid ({space.status()}): try another detail.")
    result = body ^ space
    if result.status() != tool.Error.NoError or result.is_empty():
        return None
    return collect(result.to_mesh64(), body_id, middle)


def solid(tool, vertices, extra, triangles, name):
    return tool.Manifold(
        tool.Mesh64(
            np.ascontiguousarray(np.hstack([vertices, extra])),
            np.ascontiguousarray(triangles, np.uint64),
            run_index=np.array([0, 3 * len(triangles)], np.uint64),
            run_original_id=np.array([name], np.uint32),
            face_id=np.arange(len(triangles), dtype=np.uint64),
        )
    )


def collect(mesh, body_id, middle):
    """The library's result with merged vertices, and the gap subtracted."""
    values = np.asarray(mesh.vert_properties)
    triangles = np.asarray(mesh.tri_verts).astype(np.int64)
    one = np.arange(len(values))
    one[np.asarray(mesh.merge_from_vert, np.int64)] = np.asarray(mesh.merge_to_vert, np.int64)
    while (one[one] != one).any():
        one = one[one]
    back = np.zeros((len(values), 3))
    # of the vertices that are one, only the solid's knows the way back
    moved = np.flatnonzero((values[:, 3:] != 0).any(1))
    back[one[moved]] = values[moved, 3:]
    triangles = one[triangles]
    used, triangles = np.unique(triangles, return_inverse=True)
    inside = np.zeros(len(mesh.face_id), bool)
    runs = np.asarray(mesh.run_index, np.int64) // 3
    for run, original in enumerate(np.asarray(mesh.run_original_id)):
        inside[runs[run] : runs[run + 1]] = original != body_id
    return Pieces(
        values[used, :3] + back[used] + middle,
        triangles.reshape(-1, 3),
        inside,
        np.asarray(mesh.face_id).astype(np.int64),
    )
