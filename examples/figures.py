# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures that stand on their own, from formulas: (n, 3) float32 vertices and (m, 3) uint32 triangles,
about a metre in size. Most are of several shells that overlap, as people model them; the teapot's are
open where they meet."""

import numpy as np


def grid(rows, columns):
    """Triangles of rows of vertices; each row is a ring."""
    i, j = np.divmod(np.arange((rows - 1) * columns), columns)
    a, b = i * columns + j, i * columns + (j + 1) % columns
    return np.concatenate([np.stack([a, b, b + columns], 1), np.stack([a, b + columns, a + columns], 1)])


def fan(first, columns, centre, turned):
    """Triangles that close a ring."""
    a = np.arange(columns)
    b = (a + 1) % columns
    ring = [first + b, first + a] if turned else [first + a, first + b]
    return np.stack([np.full(columns, centre), *ring], 1)


def rings(path, radii, sides, closed=True):
    """A tube: circles along a path in the plane of x and z."""
    path = np.asarray(path, float)
    radii = np.broadcast_to(radii, len(path))[:, None, None]
    along = np.gradient(path, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    side = np.where(abs(along[:, 1:2]) > 0.9, [1.0, 0, 0], [0, 1.0, 0])
    across = np.cross(side, along)
    across /= np.linalg.norm(across, axis=1)[:, None]
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)[:, None]
    third = np.cross(along, across)
    points = path[:, None] + radii * (np.cos(angle) * across[:, None] + np.sin(angle) * third[:, None])
    vertices, triangles = points.reshape(-1, 3), [grid(len(path), sides)]
    if closed:
        count = len(vertices)
        vertices = np.vstack([vertices, path[0], path[-1]])
        triangles += [fan(0, sides, count, True), fan((len(path) - 1) * sides, sides, count + 1, False)]
    return vertices, np.concatenate(triangles)


def limb(start, end, radius, other=None, sides=14):
    part = np.linspace(0, 1, 12)[:, None]
    path = np.asarray(start) + part * (np.asarray(end, float) - np.asarray(start))
    return rings(path, np.linspace(radius, other or radius, 12), sides)


def lathe(profile, sides):
    """(radius, height) turned about z; a radius of 0 at an end closes it in a point."""
    profile = np.asarray(profile, float)
    low, high = profile[0, 0] == 0, profile[-1, 0] == 0
    body = profile[int(low) : len(profile) - int(high)]
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    vertices = np.concatenate([np.stack([r * np.cos(angle), r * np.sin(angle), np.full(sides, z)], 1) for r, z in body])
    triangles = [grid(len(body), sides)]
    for end, first, turned in ((low, 0, True), (high, (len(body) - 1) * sides, False)):
        if end:
            vertices = np.vstack([vertices, [0, 0, profile[0 if turned else -1, 1]]])
            triangles.append(fan(first, sides, len(vertices) - 1, turned))
    return vertices, np.concatenate(triangles)


def egg(centre, radii, sides=32):
    angle = np.linspace(0, np.pi, sides // 2 + 1)
    profile = np.stack([np.sin(angle), -np.cos(angle)], 1)
    profile[[0, -1], 0] = 0
    vertices, triangles = lathe(profile, sides)
    return vertices * radii + centre, triangles


def slab(centre, size, count=10):
    """A box of many faces, its sides not joined to each other by indices."""
    line = np.linspace(-0.5, 0.5, count + 1)
    parts = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            points = np.zeros((count + 1, count + 1, 3))
            points[..., axis] = side
            points[..., (axis + 1) % 3], points[..., (axis + 2) % 3] = np.meshgrid(line, line, indexing="ij")
            i, j = np.divmod(np.arange(count * count), count)
            a = i * (count + 1) + j
            faces = np.concatenate(
                [np.stack([a, a + count + 1, a + count + 2], 1), np.stack([a, a + count + 2, a + 1], 1)]
            )
            parts.append((points.reshape(-1, 3) * size + centre, faces if side > 0 else faces[:, ::-1]))
    return joined(*parts)


def joined(*parts):
    first = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    return (
        np.concatenate([vertices for vertices, _ in parts]).astype(np.float32),
        np.concatenate([faces + at for (_, faces), at in zip(parts, first)]).astype(np.uint32),
    )


def curve(points, count):
    """A smooth curve through points (Catmull and Rom)."""
    points = np.asarray(points, float)
    points = np.vstack([2 * points[0] - points[1], points, 2 * points[-1] - points[-2]])
    place = np.linspace(0, len(points) - 3, count)
    i = np.minimum(place.astype(int), len(points) - 4)
    u = (place - i)[:, None]
    a, b, c, d = (points[i + k] for k in range(4))
    return 0.5 * (2 * b + (c - a) * u + (2 * a - 5 * b + 4 * c - d) * u**2 + (3 * b - a - 3 * c + d) * u**3)


# ------------------------------------------------------------------ the figures


def teapot():
    """Four open shells: the body, the lid, which lies a little inside of its rim, the handle and the
    spout, whose ends reach into the body."""
    body = curve([(1.4, 2.4), (1.5, 2.45), (1.75, 1.875), (2.0, 1.1), (1.9, 0.6), (1.5, 0.25), (0.8, 0.03)], 26)
    lid = curve([(1.3, 2.4), (1.1, 2.5), (0.6, 2.62), (0.2, 2.75), (0.3, 2.95), (0.2, 3.12)], 20)
    handle = curve(
        [(-1.6, 0, 2.025), (-2.3, 0, 2.1), (-2.75, 0, 1.9), (-2.85, 0, 1.5), (-2.6, 0, 1.0), (-1.9, 0, 0.6)], 40
    )
    spout = curve([(1.6, 0, 0.7), (2.3, 0, 0.95), (2.6, 0, 1.7), (2.9, 0, 2.2), (3.3, 0, 2.45)], 30)
    wide = np.interp(np.linspace(0, 1, 30), [0, 0.3, 0.6, 1], [0.62, 0.45, 0.28, 0.2])
    vertices, triangles = joined(
        lathe(np.vstack([body, [(0, 0)]])[::-1], 40),
        lathe(np.vstack([lid, [(0, 3.15)]])[::-1], 40),
        rings(handle, 0.17, 16, closed=False),
        rings(spout, wide, 24, closed=False),
    )
    return vertices * np.float32(0.249), triangles


def quadruped():
    legs = [limb((x, y, 0.7), (1.05 * x, 1.1 * y, 0), 0.1, 0.06) for x in (-0.38, 0.38) for y in (-0.14, 0.14)]
    return joined(
        egg((0, 0, 0.75), (0.6, 0.25, 0.27)),
        egg((0.68, 0, 1.0), (0.2, 0.15, 0.17)),
        limb((0.4, 0, 0.8), (0.65, 0, 1.0), 0.12, 0.1),
        limb((-0.5, 0, 0.85), (-0.85, 0, 0.6), 0.05, 0.03),
        *legs,
    )


def eared():
    """A large head with thin ears."""
    arms = [limb((x, 0, 0.5), (2.2 * x, -0.1, 0.35), 0.08, 0.06) for x in (-0.2, 0.2)]
    ears = [egg((x, 0, 1.25), (0.42, 0.035, 0.4), 48) for x in (-0.62, 0.62)]
    base = lathe([(0, 0), (0.15, 0), (0.33, 0), (0.35, 0.03), (0.33, 0.06), (0, 0.06)], 40)
    return joined(base, egg((0, 0, 0.36), (0.28, 0.24, 0.34)), egg((0, 0, 0.95), (0.36, 0.33, 0.36)), *ears, *arms)


def table():
    return joined(
        slab((0, 0, 0.72), (1.6, 0.9, 0.06), 14),
        *(limb((x, y, 0.71), (x, y, 0), 0.1, 0.09) for x in (-0.65, 0.65) for y in (-0.32, 0.32)),
    )


def plate():
    low = curve([(0, 0.02), (0.25, 0.02), (0.4, 0.05), (0.5, 0.1)], 20)
    low[0, 0] = 0
    return joined(lathe(np.vstack([low, low[::-1] + [0, 0.035]]), 56))


def ring():
    angle = np.linspace(0, 2 * np.pi, 49)
    path = np.stack([0.5 * np.cos(angle), 0 * angle, 0.6 + 0.5 * np.sin(angle)], 1)
    return joined(rings(path, 0.07, 20), slab((0, 0, 0.06), (0.4, 0.4, 0.12), 6))


def arch():
    angle = np.linspace(0, np.pi, 40)
    return joined(rings(np.stack([0.7 * np.cos(angle), 0 * angle, 0.9 * np.sin(angle)], 1), 0.1, 18))


def tree():
    parts = [
        limb((0, 0, 0.9), (0, 0, 0), 0.06, 0.12),
        lathe([(0, 0), (0.3, 0), (0.35, 0.02), (0.3, 0.05), (0, 0.08)], 40),
    ]
    for k in range(6):
        out = 0.45 * np.array([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0])
        height = 0.55 + 0.08 * (k % 3)
        parts += [
            limb(out + [0, 0, height + 0.25], (0, 0, height - 0.1), 0.035, 0.06),
            egg(out + [0, 0, height + 0.28], 0.13, 20),
        ]
    return joined(*parts)


def bottle():
    outside = curve([(0.22, 0), (0.25, 0.1), (0.25, 0.5), (0.2, 0.62), (0.08, 0.75), (0.08, 1.0)], 30)
    inside = outside[::-1] - [0.035, 0]
    inside[-1] = (0.18, 0.04)
    return joined(lathe(np.vstack([[(0, 0)], outside, inside, [(0, 0.04)]]), 40))


def dancer():
    """A figure on one leg."""
    arms = [limb((0.15 * x, 0, 1.15), (0.6 * x, 0, 1.3), 0.06, 0.04) for x in (-1, 1)]
    foot = lathe([(0, 0), (0.25, 0), (0.3, 0.02), (0.25, 0.05), (0, 0.08)], 40)
    return joined(
        egg((0, 0, 1.0), (0.22, 0.18, 0.32)),
        egg((0, 0, 1.42), 0.16),
        limb((0, 0, 0.8), (0, 0, 0), 0.08, 0.05),
        limb((0, 0, 0.8), (0.04, 0.3, 0.5), 0.07, 0.05),
        foot,
        *arms,
    )


TEN = (quadruped, eared, teapot, table, plate, ring, arch, tree, bottle, dancer)


def pane():
    """A sheet of glass that lies down, for breaking."""
    return slab((0, 0, 0), (1.0, 1.0, 0.03), 24)


def edges(triangles):
    """Each edge once, as two vertices."""
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    return np.unique(ends, axis=0)


def stretch(triangles, rest, now):
    """How many times as long each edge is."""
    a, b = edges(triangles).T
    before = np.linalg.norm(rest[a].astype(float) - rest[b], axis=1)
    after = np.linalg.norm(now[a].astype(float) - now[b], axis=1)
    return after[before > 1e-9] / before[before > 1e-9]


def crumpling(before, after):
    """How far points are from where a rigid motion of all of them has them: RMS, over their size."""
    a, b = before - before.mean(0), after - after.mean(0)
    u, _, w = np.linalg.svd(a.T @ b)
    turned = a @ ((u * [1, 1, np.sign(np.linalg.det(u @ w))]) @ w)
    size = np.linalg.norm(np.ptp(before, axis=0))
    return np.sqrt(((b - turned) ** 2).sum(1).mean()) / size
