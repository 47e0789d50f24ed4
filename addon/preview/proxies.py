# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact shapes of clusters as triangles: the part of the body's contact surface within the
cluster's ball, and the ball where the body continues.

Each shape is sampled by rays from its centre: in every direction it ends at the radius or where the
ray leaves the body, whichever comes first. Does not import bpy.
"""

from functools import cache

import numpy as np

FINE, COARSE = 3, 2  # subdivisions of an icosahedron: 1,280 and 320 triangles
MOST_FINE = 250  # number of shapes up to which the fine level is used
MOST = 1500
STEPS = 24  # per ray at most (sphere tracing): a step is the distance to the surface
SLACK = 1e-3  # of the radius: distance that counts as on the surface
LIGHT = np.array((-0.35, -0.55, 0.76), np.float32)  # direction to the light, in the body's axes


@cache
def ball(subdivisions):
    """Directions (n, 3) and triangles (m, 3) of a unit ball."""
    g = (1 + 5**0.5) / 2
    points = [(a, b * g, 0) for a in (-1, 1) for b in (-1, 1)]
    points = np.array([np.roll(p, turn) for turn in range(3) for p in points])
    # an icosahedron's faces are the triples of corners that are all 2 apart
    near = np.abs(np.linalg.norm(points[:, None] - points, axis=2) - 2) < 1e-9
    faces = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[k, i]
    ]
    corners = points[np.array(faces)]
    for _ in range(subdivisions):
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        corners = np.concatenate([np.stack(t, 1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
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


def reach(centres, radii, distance):
    """Length of each ray from each centre, (shapes, directions). distance: signed distances of
    points (n, 3) from the surface, negative inside."""
    directions, _ = directions_for(centres)
    rays = np.tile(directions, (len(centres), 1))
    start = np.repeat(centres, len(directions), axis=0)
    most = np.repeat(radii, len(directions)).astype(np.float32)
    far, active = np.zeros(len(rays), np.float32), np.arange(len(rays))
    for _ in range(STEPS):
        room = -distance(start[active] + far[active, None] * rays[active])
        far[active] = np.minimum(far[active] + np.maximum(room, 0), most[active])
        active = active[(room > SLACK * most[active]) & (far[active] < most[active])]
        if not len(active):
            break
    return far.reshape(len(centres), -1)


def directions_for(centres):
    return ball(FINE if len(centres) <= MOST_FINE else COARSE)


def visible(centres, radii, far):
    """Which triangles are drawn, (shapes, triangles): those that lie deepest in their own ball. Shapes
    that overlap end at the same surface of the body, where only one of them can be seen."""
    directions, triangles = directions_for(centres)
    middle = centres.mean(axis=0)
    centres = (centres - middle).astype(np.float32)
    squares, scale = (centres**2).sum(axis=1), 1 / np.maximum(radii, 1e-30).astype(np.float32) ** 2
    found = np.empty((len(centres), len(triangles)), bool)
    for i, centre in enumerate(centres):
        points = (centre + far[i, :, None] * directions)[triangles].mean(axis=1)
        apart = (points**2).sum(axis=1)[:, None] + squares - 2 * points @ centres.T
        found[i] = (apart * scale).argmin(axis=1) == i
    return found


def corners(centres, far, shown=None):
    """Triangles of all shapes, (n, 3, 3), brightness of each of their corners, (n, 3), and their
    shape, (n). far: result of reach(); shown: result of visible(), or None for all of them."""
    directions, triangles = directions_for(centres)
    points = centres[:, None] + far[:, :, None] * directions
    made = points[:, triangles].reshape(-1, 3, 3)
    normals = np.cross(made[:, 1] - made[:, 0], made[:, 2] - made[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    light = 0.55 + 0.45 * (normals / np.maximum(length, 1e-30)) @ LIGHT
    whose = np.repeat(np.arange(len(centres)), len(triangles))
    light = np.repeat(light[:, None], 3, axis=1)
    if shown is not None:
        made, light, whose = (values[shown.ravel()] for values in (made, light, whose))
    return made, light, whose
