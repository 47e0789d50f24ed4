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
    """How far each shape reaches from its centre in each direction, (shapes, directions). planes:
    (shapes, 6, 4), inside is n . r + a <= 0; n is nil for those that are none."""
    far = np.repeat(radii[:, None], len(directions), axis=1).astype(np.float32)
    for index in range(planes.shape[1]):
        normal, offset = planes[:, index, :3], planes[:, index, 3]
        room = -(np.einsum("ck,ck->c", normal, centres) + offset)  # from the centre to the plane
        towards = normal @ directions.T
        with np.errstate(divide="ignore", invalid="ignore"):
            along = np.where(towards > 1e-6, np.maximum(room, 0)[:, None] / towards, np.inf)
        far = np.minimum(far, along)
    return far


def corners(centres, radii, planes):
    """Triangles of all shapes, (shapes, triangles, 3, 3), and how light each is, (shapes, triangles):
    flat faces look flat."""
    directions, triangles = ball(FINE if len(centres) <= MOST_FINE else COARSE)
    far = reach(directions, centres, radii, planes)
    points = centres[:, None] + far[:, :, None] * directions
    made = points[:, triangles]
    normals = np.cross(made[:, :, 1] - made[:, :, 0], made[:, :, 2] - made[:, :, 0])
    length = np.linalg.norm(normals, axis=2)
    lit = np.einsum("ctk,k->ct", normals, LIGHT) / np.maximum(length, 1e-20)
    return made, .55 + .45 * lit
