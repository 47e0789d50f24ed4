# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that are not closed solids come apart along their own edges.

A sheet, or a mesh with holes or non-manifold edges, has no inside for crack faces. Each face
follows the cell of its centre; between faces that have parted the mesh is unzipped, and faces
around a vertex that stay connected share one copy of it.
"""

import numpy as np

from . import graph
from .datatypes import Broken, Surface


def unzip(surface, cells, partings, part):
    """A Broken without its binding."""
    faces, sizes = len(surface.face_start) - 1, np.diff(surface.face_start)
    face_of = np.repeat(np.arange(faces), sizes)
    middle = (
        np.column_stack([np.bincount(face_of, surface.vertices[surface.corners, k], faces) for k in range(3)])
        / np.maximum(sizes, 1)[:, None]
    )
    copy = cells.copy_at(middle)
    following = np.arange(len(surface.corners)) + 1
    following[surface.face_start[1:] - 1] = surface.face_start[:-1]
    low = np.minimum(surface.corners, surface.corners[following])
    high = np.maximum(surface.corners, surface.corners[following])
    order = np.lexsort((face_of, high, low))
    same = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    one, two = order[:-1][same], order[1:][same]  # corners whose edges coincide
    a, b = copy[face_of[one]], copy[face_of[two]]
    time = np.full(len(one), np.inf)
    differ = a != b
    time[differ] = partings.times(a[differ], b[differ])
    joined = time == np.inf
    # corners of two faces at one vertex are joined if the faces' common edge holds
    first, second = [], []
    for c1, c2 in ((one[joined], two[joined]),):
        for end in (0, 1):
            mine = c1 if end == 0 else following[c1]
            other = np.where(surface.corners[c2] == surface.corners[mine], c2, following[c2])
            first.append(mine)
            second.append(other)
    group = graph.components(len(surface.corners), np.concatenate(first), np.concatenate(second))
    # faces that share only a vertex are joined there unless their cells have parted
    group = hold_touching(surface, group, copy[face_of], partings)
    number, corners = np.unique(surface.corners * len(surface.corners) + group, return_inverse=True)
    origin = number // len(surface.corners)
    loose = np.setdiff1d(np.arange(len(surface.vertices)), surface.corners)
    origin = np.concatenate([origin, loose])
    made = Surface(
        surface.vertices[origin],
        surface.face_start,
        corners,
        surface.material,
        dict(surface.corner_layers),
        {name: np.asarray(values)[origin] for name, values in surface.point_layers.items()},
        dict(surface.face_layers),
        surface.normals,
    )
    birth = np.full(len(origin), np.inf)
    for c in (one, two):
        for at in (c, following[c]):
            np.minimum.at(birth, corners[at], time)
    cut, end = np.flatnonzero(~joined), following[two[~joined]]
    # the edge's ends, in opposite order in the two faces (or not)
    turned = surface.corners[one[cut]] == surface.corners[end]
    were_one = (
        corners[np.concatenate([one[cut], following[one[cut]]])],
        corners[np.concatenate([np.where(turned, end, two[cut]), np.where(turned, two[cut], end)])],
        np.concatenate([time[cut], time[cut]]),
    )
    vertex_copy = cells.copy_at(made.vertices)
    vertex_copy[corners] = copy[face_of]
    return Broken(
        made,
        np.zeros(faces, bool),
        part[copy],
        part[vertex_copy],
        np.full(faces, np.inf),
        birth,
        vertex_copy,
        origin,
        np.arange(faces),
        np.full((len(origin), 2), -1),
        were_one,
    )


def hold_touching(surface, group, copy, partings):
    """Joins groups of corners at one vertex whose cells never parted."""
    order = np.lexsort((group, surface.corners))
    vertex, mine = surface.corners[order], group[order]
    step = (vertex[1:] == vertex[:-1]) & (mine[1:] != mine[:-1])
    first, second = order[:-1][step], order[1:][step]
    time = np.full(len(first), np.inf)
    differ = copy[first] != copy[second]
    time[differ] = partings.times(copy[first][differ], copy[second][differ])
    hold = time == np.inf
    label = graph.components(int(group.max(initial=-1)) + 1, group[first[hold]], group[second[hold]])
    return label[group]
