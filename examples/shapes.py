# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed meshes from formulas, for examples and tests: (n, 3) float32 and (m, 3) uint32 arrays."""

import numpy as np


def box(size=(1.0, 1.0, 1.0), centre=(0.0, 0.0, 0.0)):
    """Twelve triangles."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    vertices = corners * np.asarray(size) + np.asarray(centre)
    return vertices.astype(np.float32), np.array(triangles, np.uint32)


def icosphere(radius=1.0, subdivisions=3):
    """A sphere of nearly equal triangles: 20 * 4 ** subdivisions of them."""
    g = (1 + 5**0.5) / 2
    vertices = np.array(
        [
            (-1, g, 0),
            (1, g, 0),
            (-1, -g, 0),
            (1, -g, 0),
            (0, -1, g),
            (0, 1, g),
            (0, -1, -g),
            (0, 1, -g),
            (g, 0, -1),
            (g, 0, 1),
            (-g, 0, -1),
            (-g, 0, 1),
        ]
    )
    triangles = np.array(
        [
            (0, 11, 5),
            (0, 5, 1),
            (0, 1, 7),
            (0, 7, 10),
            (0, 10, 11),
            (1, 5, 9),
            (5, 11, 4),
            (11, 10, 2),
            (10, 7, 6),
            (7, 1, 8),
            (3, 9, 4),
            (3, 4, 2),
            (3, 2, 6),
            (3, 6, 8),
            (3, 8, 9),
            (4, 9, 5),
            (2, 4, 11),
            (6, 2, 10),
            (8, 6, 7),
            (9, 8, 1),
        ]
    )
    for _ in range(subdivisions):
        edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
        unique, inverse = np.unique(edges, axis=0, return_inverse=True)
        middles = len(vertices) + inverse.reshape(3, -1)
        vertices = np.concatenate([vertices, vertices[unique].mean(axis=1)])
        a, b, c = triangles.T
        ab, bc, ca = middles
        triangles = np.concatenate([np.stack(t, 1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    vertices *= radius / np.linalg.norm(vertices, axis=1, keepdims=True)
    return vertices.astype(np.float32), triangles.astype(np.uint32)


def bumpy(size=(1.0, 1.0, 1.0), bump=0.08, waves=5.0, subdivisions=5):
    """An ellipsoid with half axes `size`, covered with bumps of a height relative to its radius."""
    vertices, triangles = icosphere(1, subdivisions)
    x, y, z = (vertices * waves).T
    height = (np.sin(x + 0.7) * np.sin(y) + np.sin(y + 0.4) * np.sin(z) + np.sin(z) * np.sin(x)) / 1.5
    vertices = vertices * (1 + bump * height[:, None]) * np.asarray(size)
    return vertices.astype(np.float32), triangles


def cylinder(radius=1.0, half_height=1.0, sides=64):
    """Along z, with flat ends that do not share vertices with the side (their normals differ)."""
    angle = np.arange(sides) * (2 * np.pi / sides)
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    low, high = (np.column_stack([ring, np.full(sides, h)]) for h in (-half_height, half_height))
    centres = np.array([[0, 0, -half_height], [0, 0, half_height]])
    vertices = np.concatenate([low, high, low, high, centres])
    i = np.arange(sides)
    j = (i + 1) % sides
    triangles = np.concatenate(
        [
            np.stack([i, j, sides + j], 1),
            np.stack([i, sides + j, sides + i], 1),
            np.stack([np.full(sides, 4 * sides), 2 * sides + j, 2 * sides + i], 1),
            np.stack([np.full(sides, 4 * sides + 1), 3 * sides + i, 3 * sides + j], 1),
        ]
    )
    return vertices.astype(np.float32), triangles.astype(np.uint32)


def rotate(vertices, quaternion):
    """Rotates by w x y z."""
    w, x, y, z = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    matrix = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return (vertices @ matrix.T).astype(np.float32)
