# SPDX-License-Identifier: GPL-3.0-or-later
"""Which particles the vertices of a broken mesh follow, and until when.

The weights are the library's skin (native/src/output/skin.c): a vertex V follows the particles near it
with a smooth compact kernel. Across a crack that must end. A vertex in the cell of copy c follows

    one copy of each particle within the support of V, the one that c stays connected with longest,
    until the time of that connection: the widest way from c through neighbouring cells near V,
    where a way is as wide as the earliest parting on it.

So an entry holds for ever on the vertex's own side, and on the other side until the last way around is
gone: around the tip of a slit weights vary smoothly. Before a crack's birth its two sides must be the
same to the bit, therefore both take the entries of one of them (`before`) until then.

How output blends, for each frame at time t:
    fade(u) = 1 - smooth step from u to u + fade time         (0 once an entry is over)
    own     = sum over the vertex's entries of kernel * fade(until) * (x_j + F_j (V - r_j)), normalised
    before  = the same with the entries of vertex before[v]
    V'      = before where t <= birth, own where t >= birth + fade time, a smooth blend between
A particle that is not born at t is where its ancestor is (the frame store's reader presents it so).
"""
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np

from . import graph

ENTRIES = 64        # at most for a vertex, as in the library


@dataclass
class Binding:
    begin: np.ndarray       # (n + 1)
    particle: np.ndarray    # entries
    kernel: np.ndarray      # not normalised
    until: np.ndarray       # when the entry ends; infinity: never
    before: np.ndarray      # (n,) vertex whose entries count until the birth
    birth: np.ndarray       # (n,)

    def weights(self, time, fade):
        """Normalised weights of all entries at a time."""
        left = self.kernel * (1 - smooth_step((time - self.until) / max(fade, 1e-300)))
        vertex = np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))
        total = np.bincount(vertex, left, len(self.begin) - 1)
        return left / np.maximum(total, 1e-300)[vertex]


def smooth_step(x):
    x = np.clip(np.nan_to_num(x, nan=0.0, neginf=0.0, posinf=1.0), 0, 1)
    return x * x * (3 - 2 * x)


def bind(vertices, copy, birth, particles, pairs, times, spacing, support, step):
    """Binding of vertices, each in the cell of a copy; pairs, times: neighbouring cells and when they
    parted."""
    count = len(particles.rest)
    around = graph.Neighbours(count, pairs, times)
    site = roots(particles.parent)
    reach = support * spacing
    order = np.argsort(copy, kind="stable")
    bounds = np.flatnonzero(np.r_[True, copy[order][1:] != copy[order][:-1], True]) if len(copy) else [0]
    ball = Ball(particles.rest, reach)
    blocks = []
    for begin, end in zip(bounds[:-1], bounds[1:]):
        members = order[begin:end]
        c = int(copy[members[0]])
        far = np.sqrt(((vertices[members] - particles.rest[c]) ** 2).sum(1).max())
        local = ball.near(particles.rest[c], max(reach, 1.5 * far) + far)
        width = around.widest(c, local)
        # of a particle's copies the one that stays longest, the oldest of those
        best = np.lexsort((local, -width, site[local]))
        best = best[np.r_[True, site[local][best][1:] != site[local][best][:-1]]]
        best = best[width[best] > -np.inf]
        blocks.append(weigh(vertices, members, particles.rest, local[best], width[best], reach))
    vertex, particle, kernel, until = (
        np.concatenate([block[k] for block in blocks] or [np.zeros(0)]) for k in range(4))
    vertex = vertex.astype(np.int64)
    order = np.argsort(vertex, kind="stable")
    begin = np.searchsorted(vertex[order], np.arange(len(vertices) + 1))
    return Binding(begin, particle[order].astype(np.int64), kernel[order], until[order],
                   counterparts(vertices, birth, step), birth)


def weigh(vertices, members, rest, node, width, reach):
    """Kernel values of the vertices of one cell on the particles that it may follow, as entries:
    vertex, particle, kernel, until."""
    squared = ((vertices[members][:, None] - rest[node]) ** 2).sum(2)
    nearest = np.sqrt(squared.min(1))
    wide = np.maximum(reach, 1.5 * nearest)
    if squared.shape[1] > ENTRIES:
        crowd = np.sqrt(np.partition(squared, ENTRIES, 1)[:, ENTRIES])
        wide = np.minimum(wide, np.maximum(crowd, nearest * (1 + 1e-6)))
    part = np.maximum(1 - squared / np.maximum(wide ** 2, 1e-300)[:, None], 0) ** 3
    alone = np.flatnonzero(part.max(1) <= 0)
    part[alone, squared[alone].argmin(1)] = 1
    row, column = np.nonzero(part)
    return members[row], node[column], part[row, column], width[column]


class Ball:
    """Particles within a distance, from bins of space."""

    def __init__(self, points, size):
        self.points, self.size = points, size
        self.low = points.min(0)
        self.shape = np.floor(np.ptp(points, axis=0) / size).astype(np.int64) + 1
        key = self.key(np.floor((points - self.low) / size).astype(np.int64))
        self.order = np.argsort(key, kind="stable")
        self.sorted = key[self.order].tolist()
        self.columns = [int(n) for n in self.shape]

    def key(self, cell):
        return (cell[..., 0] * self.shape[1] + cell[..., 1]) * self.shape[2] + cell[..., 2]

    def near(self, centre, radius):
        low = np.floor((centre - radius - self.low) / self.size).astype(np.int64).tolist()
        high = np.floor((centre + radius - self.low) / self.size).astype(np.int64).tolist()
        _, ny, nz = self.columns
        low = [max(k, 0) for k in low]
        high = [min(k, n - 1) for k, n in zip(high, self.columns)]
        found = []
        for x in range(low[0], high[0] + 1):
            for y in range(low[1], high[1] + 1):
                row = (x * ny + y) * nz
                a, b = bisect_left(self.sorted, row + low[2]), bisect_right(self.sorted, row + high[2])
                if a < b:
                    found.append(self.order[a:b])
        found = np.concatenate(found) if found else np.zeros(0, np.int64)
        away = self.points[found] - centre
        return found[np.einsum("ij,ij->i", away, away) <= radius ** 2]


def roots(parent):
    """The original particle of each copy."""
    root = np.where(parent < 0, np.arange(len(parent)), parent)
    while (root[root] != root).any():
        root = root[root]
    return root


def counterparts(vertices, birth, step):
    """For vertices on cracks the first one at the same place, for others themselves."""
    before = np.arange(len(vertices))
    on_crack = np.flatnonzero(birth < np.inf)
    place = graph.same_places(vertices[on_crack], 1e-6 * step)
    _, first = np.unique(place, return_index=True)
    before[on_crack] = on_crack[first[place]]
    return before


def skin(binding, vertices, rest, position, gradient, time, fade):
    """Where the vertices are at a time. position (p, 3), gradient (p, 3, 3): of the particles then."""
    weight = binding.weights(time, fade)
    vertex = np.repeat(np.arange(len(vertices)), np.diff(binding.begin))
    j = binding.particle
    moved = position[j] + np.einsum("eij,ej->ei", gradient[j], vertices[vertex] - rest[j])
    own = np.column_stack([np.bincount(vertex, weight * moved[:, k], len(vertices)) for k in range(3)])
    blend = np.where(np.isinf(binding.birth), 1.0,
                     smooth_step((time - binding.birth) / max(fade, 1e-300)))[:, None]
    return own[binding.before] * (1 - blend) + own * blend
