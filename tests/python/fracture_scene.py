# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies for the tests of crack surfaces: particles, connectivity, meshes, and checks."""

import numpy as np

import support  # noqa: F401  (makes addon importable)
from addon.fracture import Particles, Surface
from addon.fracture.point_grid import PointGrid


def cloud(size, spacing, seed=1, jitter=0.3):
    """Particles that fill a box from the origin: a grid, shaken."""
    size = np.asarray(size, float)
    number = np.maximum(1, np.round(size / spacing)).astype(int)
    grid = np.stack(np.meshgrid(*[np.arange(n) for n in number], indexing="ij"), -1).reshape(-1, 3)
    shake = np.random.default_rng(seed).uniform(-jitter, jitter, grid.shape)
    return (grid + 0.5 + shake) / number * size


def near_pairs(rest, radius):
    """Pairs nearer than a radius, as clusters of that size would have them."""
    grid, found = PointGrid(rest, radius), []
    for i in range(len(rest)):
        other = grid.near(rest[i], radius)
        other = other[other > i]
        found.append(np.column_stack([np.full(len(other), i), other]))
    return np.concatenate(found)


def particles(rest, spacing, parted=None, time=5.0):
    """Particles of which those pairs have parted for which parted(a, b), of rest positions, is true."""
    pairs = near_pairs(rest, 2.5 * spacing)
    until = np.full(len(pairs), np.inf)
    if parted is not None:
        apart = parted(rest[pairs[:, 0]], rest[pairs[:, 1]])
        until = np.where(apart, time, np.inf)
    return Particles(rest, np.full(len(rest), -1), np.full(len(rest), -np.inf), pairs, until, spacing)


def between(side):
    """Parted where two particles are on different sides (values of a function)."""
    return lambda a, b: side(a) != side(b)


def voronoi(seeds):
    """The nearest of some points, as a side."""
    return lambda p: ((p[:, None] - seeds) ** 2).sum(2).argmin(1)


def box(size, number=(1, 1, 1)):
    """A box from the origin as quads; UVs of each side, a material for each, a group along x."""
    vertices, faces, side = {}, [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for end in (0, 1):
            for i in range(number[u]):
                for j in range(number[v]):
                    face = []
                    for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        corner = [0, 0, 0]
                        corner[axis], corner[u], corner[v] = end * number[axis], i + di, j + dj
                        face.append(vertices.setdefault(tuple(corner), len(vertices)))
                    faces.append(face if end else face[::-1])
                    side.append(2 * axis + end)
    place = np.array(list(vertices)) * np.asarray(size, float) / np.array(number)
    made = Surface(place, np.arange(len(faces) + 1) * 4, np.ravel(faces), np.array(side) % 3)
    made.corner_layers["uv"] = uv_of(place[made.corners], np.repeat(side, 4))
    made.point_layers["group"] = (1 + 2 * place[:, 0] + place[:, 1])[:, None].astype(np.float32)
    made.face_layers["side"] = np.array(side)
    return made


def uv_of(points, side):
    """What the UVs of box() are at points on a side: linear, different on each."""
    axis = np.asarray(side) // 2
    plane = np.array([[1, 2], [2, 0], [0, 1]])[axis]
    return np.take_along_axis(points, plane, 1) * 0.5 + np.asarray(side)[:, None]


def sphere(rings, segments, radius=1.0):
    """A closed sphere of triangles and quads."""
    vertices = [(0, 0, radius)]
    for r in range(1, rings):
        a = np.pi * r / rings
        for s in range(segments):
            b = 2 * np.pi * s / segments
            vertices.append((radius * np.sin(a) * np.cos(b), radius * np.sin(a) * np.sin(b), radius * np.cos(a)))
    vertices.append((0, 0, -radius))
    faces = []
    for s in range(segments):
        t = (s + 1) % segments
        faces.append([0, 1 + s, 1 + t])
        for r in range(rings - 2):
            a = 1 + r * segments
            faces.append([a + s, a + segments + s, a + segments + t, a + t])
        a = 1 + (rings - 2) * segments
        faces.append([a + s, len(vertices) - 1, a + t])
    sizes = [len(face) for face in faces]
    return Surface(np.array(vertices), np.r_[0, np.cumsum(sizes)], np.concatenate(faces))


def edges(surface):
    """Directed edges of the faces: from, to, face."""
    sizes = np.diff(surface.face_start)
    following = np.arange(len(surface.corners)) + 1
    following[surface.face_start[1:] - 1] = surface.face_start[:-1]
    return surface.corners, surface.corners[following], np.repeat(np.arange(len(sizes)), sizes)


def open_edges(surface):
    """How many directed edges do not have exactly one opposite."""
    a, b, _ = edges(surface)
    size = len(surface.vertices)
    forward, number = np.unique(a * size + b, return_counts=True)
    backward = np.unique(b * size + a)
    return int((number > 1).sum() + len(np.setxor1d(forward, backward)))


def volumes(surface, piece_of_face, pieces):
    """Volume of each piece."""
    total = np.zeros(pieces)
    sizes = np.diff(surface.face_start)
    middle = surface.vertices.mean(0)
    for k in range(1, sizes.max(initial=2) - 1):
        use = np.flatnonzero(sizes > k + 1)
        a, b, c = (surface.vertices[surface.corners[surface.face_start[use] + j]] - middle for j in (0, k, k + 1))
        np.add.at(total, piece_of_face[use], (a * np.cross(b, c)).sum(1) / 6)
    return total
