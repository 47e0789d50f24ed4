# SPDX-License-Identifier: GPL-3.0-or-later
"""Which particles the vertices of a broken mesh follow, and until when.

The weights are the library's skin (native/src/output/skin/skin.c): a vertex V follows the particles
near it with a smooth compact kernel. Across a crack this must end. A vertex in the cell of copy c
follows

    one copy of each particle within the support of V, the one that c stays connected with longest,
    until the time of that connection: the widest path from c through neighbouring cells near V,
    where the width of a path is the earliest parting on it.

So an entry on the vertex's own side never ends, and one on the other side ends with the last path
around the crack: around the tip of a slit weights vary smoothly. Before a crack's birth its two
sides must coincide to the bit, therefore both take the position of one of them (`before`) until
then (coincident_vertices.py).

Blending at output, for each frame at time t, with p_j = x_j + F_j (V - r_j) by entry j:
    over(u, d) = smoothstep of (t - u) / fade time * (1 + HASTE d / spacing): fade-out of an entry that
                 ended at u; faster if the sides are a distance d apart, since a jump is not visible
                 there, but threads between them would be
    stays   = sum over the entries that never end of kernel * p_j, normalised
    own     = sum over all of kernel * (1 - over(until, |p_j - stays|)) * p_j, normalised
    V'      = V' of vertex before[v] and own, blended by over(birth, their distance); before[v] <= v,
              with equality if there is none
A particle that is not born at t takes its ancestor's state (the frame store's reader does this).
"""

from dataclasses import dataclass

import numpy as np

from . import graph
from .point_grid import PointGrid

ENTRIES = 64  # at most per vertex, as in the library
HASTE = 4.0  # as in the library
CELLS = 32  # cells processed at a time: a compromise between speed and memory
ROWS = 4096  # vertices at a time, to stay in the processor's cache


@dataclass
class Binding:
    begin: np.ndarray  # (n + 1)
    particle: np.ndarray  # entries
    kernel: np.ndarray  # not normalised
    until: np.ndarray  # when the entry ends; infinity: never
    before: np.ndarray  # (n,) vertex that it coincides with until the birth; itself: none
    birth: np.ndarray  # (n,) infinity: none
    spacing: float = 0.0  # of the particles


def smooth_step(x):
    x = np.clip(np.nan_to_num(x, nan=0.0, neginf=0.0, posinf=1.0), 0, 1)
    return x * x * (3 - 2 * x)


def bind(vertices, copy, before, birth, particles, pairs, times, spacing, support):
    """Binding of vertices, each in the cell of a copy; pairs, times: neighbouring cells and when
    they parted."""
    count = len(particles.rest)
    around = graph.Neighbours(count, pairs, times)
    site = roots(particles.parent)
    reach = support * spacing
    order = np.argsort(copy, kind="stable")
    bounds = np.flatnonzero(np.r_[True, copy[order][1:] != copy[order][:-1], True]) if len(copy) else [0]
    grid = PointGrid(particles.rest, reach)
    cells = copy[order[bounds[:-1]]]
    far = np.sqrt(((vertices[order] - particles.rest[copy[order]]) ** 2).sum(1))
    far = np.maximum.reduceat(far, bounds[:-1]) if len(cells) else far
    blocks = []
    for k in range(0, len(cells), CELLS):
        part = slice(k, k + CELLS)
        begin, node, width = followed(
            around, grid, site, particles.rest, cells[part], np.maximum(reach, 1.5 * far[part]) + far[part]
        )
        for j in range(len(begin) - 1):
            own = slice(begin[j], begin[j + 1])
            blocks.append(
                weigh(vertices, order[bounds[k + j] : bounds[k + j + 1]], particles.rest, node[own], width[own], reach)
            )
    vertex, particle, kernel, until = (
        np.concatenate([block[k] for block in blocks] or [np.zeros(0)]) for k in range(4)
    )
    vertex = vertex.astype(np.int64)
    order = np.argsort(vertex, kind="stable")
    begin = np.searchsorted(vertex[order], np.arange(len(vertices) + 1))
    return Binding(begin, particle[order].astype(np.int64), kernel[order], until[order], before, birth, spacing)


def followed(around, grid, site, rest, cells, reach):
    """Candidates of the vertices of some cells: where each cell's begin, the copies, until when."""
    begin, local = grid.every(rest[cells], reach)
    width = around.widest_of_many(cells, begin, local)
    cell = np.repeat(np.arange(len(cells)), np.diff(begin))
    # of a particle's copies the one that stays longest, the oldest of equals
    best = np.lexsort((local, -width, site[local], cell))
    one, place = cell[best], site[local[best]]
    best = best[np.r_[True, (one[1:] != one[:-1]) | (place[1:] != place[:-1])]]
    best = best[width[best] > -np.inf]
    return np.searchsorted(cell[best], np.arange(len(cells) + 1)), local[best], width[best]


def weigh(vertices, members, rest, node, width, reach):
    """Kernel values of the vertices of one cell on their candidate particles, as entries: vertex,
    particle, kernel, until."""
    squared = np.zeros((len(members), len(node)))
    for k in range(3):
        away = vertices[members, k][:, None] - rest[node, k]
        squared += np.square(away, out=away)
    # of entries that never end: at least one must remain
    stays = np.flatnonzero(width == np.inf)
    staying = squared if len(stays) == len(node) else squared[:, stays]
    nearest = np.sqrt(staying.min(1))
    wide = np.maximum(reach, 1.5 * nearest)
    if squared.shape[1] > ENTRIES:
        crowd = np.sqrt(np.partition(squared, ENTRIES, 1)[:, ENTRIES])
        wide = np.minimum(wide, np.maximum(crowd, nearest * (1 + 1e-6)))
    near = np.flatnonzero(nearest >= wide)
    alone = stays[staying[near].argmin(1)]
    part = squared / -np.maximum(wide**2, 1e-300)[:, None]
    part += 1
    np.maximum(part, 0, out=part)
    part *= part * part
    part[near, alone] = np.where(part[near][:, stays].max(1) <= 0, 1, part[near, alone])
    row, column = np.nonzero(part)
    return members[row], node[column], part[row, column], width[column]


def roots(parent):
    """The original particle of each copy."""
    root = np.where(parent < 0, np.arange(len(parent)), parent)
    while (root[root] != root).any():
        root = root[root]
    return root


def over(time, end, fade, spacing, apart):
    """Fade-out of what ended, 0 to 1."""
    with np.errstate(invalid="ignore"):
        return smooth_step((time - end) / max(fade, 1e-300) * (1 + HASTE * apart / spacing))


def mean(vertex, count, weight, value):
    """Weighted mean of entries by vertex."""
    total = np.maximum(np.bincount(vertex, weight, count), 1e-300)
    return np.column_stack([np.bincount(vertex, weight * value[:, k], count) for k in range(3)]) / total[:, None]


def skin(binding, vertices, rest, position, gradient, time, fade):
    """Vertex positions at a time. position (p, 3), gradient (p, 3, 3): of the particles at that
    time."""
    count = len(vertices)
    offset = position - np.einsum("pij,pj->pi", gradient, rest)
    own = np.empty((count, 3))
    for first in range(0, count, ROWS):
        last = min(first + ROWS, count)
        own[first:last] = _follow(binding, vertices, offset, gradient, time, fade, first, last)
    parting = np.flatnonzero(binding.before != np.arange(count))
    # leaders can have leaders: the first are final at once, others after a few rounds
    found = own
    while True:
        mixed, lead = own.copy(), found[binding.before[parting]]
        apart = np.sqrt(((own[parting] - lead) ** 2).sum(1))
        part = over(time, binding.birth[parting], fade, binding.spacing, apart)[:, None]
        mixed[parting] = lead + part * (own[parting] - lead)
        if np.array_equal(mixed, found, equal_nan=True):
            return found
        found = mixed


def _follow(binding, vertices, offset, gradient, time, fade, first, last):
    """Positions of vertices first to last - 1 by their own entries."""
    count, entries = last - first, slice(binding.begin[first], binding.begin[last])
    j, kernel, until = binding.particle[entries], binding.kernel[entries], binding.until[entries]
    vertex = np.repeat(np.arange(count), np.diff(binding.begin[first : last + 1]))
    moved = offset[j] + np.einsum("eij,ej->ei", gradient[j], vertices[first:last][vertex])
    ends = np.isfinite(until)
    if not (ends & (until < time)).any():
        return mean(vertex, count, kernel, moved)
    stays = mean(vertex, count, kernel * ~ends, moved)
    apart = np.sqrt(((moved - stays[vertex]) ** 2).sum(1))
    left = 1 - over(time, until, fade, binding.spacing, apart)
    return mean(vertex, count, kernel * np.where(ends, left, 1), moved)
