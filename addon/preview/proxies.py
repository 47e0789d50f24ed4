# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact shapes of clusters as triangles: balls cut by half-spaces (Jones et al. 2015, figure 1).

A ball cut by planes is convex and has its centre inside, so every direction from the centre meets its
surface once: at the radius or at the nearest plane, whichever comes first. No bpy in here.
"""
from functools import lru_cache

import numpy as np

FINE, COARSE = 3, 2  # subdivisions of an icosahedron: 1,280 and 320 triangles
MOST_FINE = 250  # shapes of a body that are drawn fine
MOST = 1500
STEPS = 7  # halvings that find an edge between two corners
LIGHT = np.array((-.35, -.55, .76), np.float32)  # towards it, in the body's axes


@lru_cache(maxsize=None)
def ball(subdivisions):
    """Directions (n, 3) and triangles (m, 3) of a unit ball."""
    g = (1 + 5 ** .5) / 2
    points = [(a, b * g, 0) for a in (-1, 1) for b in (-1, 1)]
    points = np.array([np.roll(p, turn) for turn in range(3) for p in points])
    # an icosahedron's faces are the triples of corners that are all 2 apart
    near = np.abs(np.linalg.norm(points[:, None] - points, axis=2) - 2) < 1e-9
    faces = [(i, j, k) for i in range(12) for j in range(i) for k in range(j)
             if near[i, j] and near[j, k] and near[k, i]]
    corners = points[np.array(faces)]
    for _ in range(subdivisions):
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        corners = np.concatenate([np.stack(t, 1) for t in
                                  ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
        corners /= np.linalg.norm(corners, axis=2, keepdims=True)
    corners /= np.linalg.norm(corners, axis=2, keepdims=True)
    flat = corners.reshape(-1, 3)
    _, first, index = np.unique(flat.round(6), axis=0, return_index=True, return_inverse=True)
    triangles = index.reshape(-1, 3)
    points = flat[first]
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return points.astype(np.float32), triangles


def reach(directions, centres, radii, planes):
    """How far each shape reaches from its centre in each direction, (shapes, directions), and what ends
    it there: 0 the ball, 1 + i plane i. directions: (directions, 3) for all shapes or (shapes,
    directions, 3); planes: (shapes, 6, 4), inside is n . r + a <= 0; n is nil for those that are none."""
    shared = directions.ndim == 2
    far = np.repeat(radii[:, None], directions.shape[-2], axis=1).astype(np.float32)
    ends = np.zeros(far.shape, np.int8)
    for index in range(planes.shape[1]):
        normal, offset = planes[:, index, :3], planes[:, index, 3]
        room = -(np.einsum("ck,ck->c", normal, centres) + offset)  # from the centre to the plane
        towards = normal @ directions.T if shared else np.einsum("ck,cdk->cd", normal, directions)
        with np.errstate(divide="ignore", invalid="ignore"):
            along = np.where(towards > 1e-6, np.maximum(room, 0)[:, None] / towards, np.inf)
        nearer = along < far
        far[nearer], ends[nearer] = along[nearer], 1 + index
    return far, ends


def between(a, b, end_a, shapes):
    """The directions between a and b, (n, 3) each, from which on a shape no longer ends as it does at a."""
    low, high = np.zeros(len(a), np.float32), np.ones(len(a), np.float32)
    for _ in range(STEPS):
        middle = (low + high) / 2
        _, ends = reach(unit(a + middle[:, None] * (b - a))[:, None], *shapes)
        still = ends[:, 0] == end_a
        low, high = np.where(still, middle, low), np.where(still, high, middle)
    return unit(a + high[:, None] * (b - a))


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def split(corners, ends, shapes):
    """Triangles of directions (n, 3, 3), each across an edge of its shape, divided along the edge:
    (triangles (m, 3, 3), which of the n each is part of, at what each ends)."""
    middles = []
    for k in range(3):
        a, b, differ = corners[:, k], corners[:, (k + 1) % 3], ends[:, k] != ends[:, (k + 1) % 3]
        middle = a.copy()
        middle[differ] = between(a[differ], b[differ], ends[differ, k], [s[differ] for s in shapes])
        middles.append(middle)
    made, of, at = [], [], []

    def add(which, end, *points):
        made.append(np.stack(points, axis=1))
        of.append(which)
        at.append(end)

    for k in range(3):  # one corner is cut off
        which = np.flatnonzero((ends[:, (k + 1) % 3] == ends[:, (k + 2) % 3]))
        tip, right, left = (corners[which, (k + i) % 3] for i in range(3))
        to_right, to_left = middles[k][which], middles[(k + 2) % 3][which]
        add(which, ends[which, k], tip, to_right, to_left)
        add(which, ends[which, (k + 1) % 3], to_right, right, left)
        add(which, ends[which, (k + 1) % 3], to_right, left, to_left)
    which = np.flatnonzero((ends[:, 0] != ends[:, 1]) & (ends[:, 1] != ends[:, 2]) &
                           (ends[:, 2] != ends[:, 0]))
    centre = unit(sum(middle[which] for middle in middles))
    for k in range(3):  # where three faces meet
        add(which, ends[which, k], corners[which, k], middles[k][which], centre)
        add(which, ends[which, k], middles[(k + 2) % 3][which], corners[which, k], centre)
    return np.concatenate(made), np.concatenate(of), np.concatenate(at)


def corners(centres, radii, planes):
    """Triangles of all shapes, (n, 3, 3), how light each of their corners is, (n, 3), and whose they
    are, (n). Flat faces look flat, round ones round, and edges are sharp."""
    directions, triangles = ball(FINE if len(centres) <= MOST_FINE else COARSE)
    far, ends = reach(directions, centres, radii, planes)
    ends = ends[:, triangles]
    whole = (ends == ends[:, :, :1]).all(axis=2)
    shape, triangle = np.nonzero(whole)
    cut_shape, cut_triangle = np.nonzero(~whole)
    parts, of, at = split(directions[triangles[cut_triangle]], ends[cut_shape, cut_triangle],
                          [a[cut_shape] for a in (centres, radii, planes)])
    of = cut_shape[of]
    whose = np.concatenate((shape, of))
    towards = np.concatenate((directions[triangles[triangle]], parts))
    far = np.concatenate((far[shape[:, None], triangles[triangle]],
                          reach(parts, centres[of], radii[of], planes[of])[0]))
    at = np.concatenate((ends[shape, triangle, 0], at))
    flat = planes[whose, np.maximum(at, 1) - 1, :3]
    normals = np.where((at == 0)[:, None, None], towards, flat[:, None])
    return centres[whose, None] + far[:, :, None] * towards, .55 + .45 * (normals @ LIGHT), whose
