# SPDX-License-Identifier: GPL-3.0-or-later
"""Slivers: parts of cells that are disconnected from their piece.

A copy's cell is what its split planes left of it, wherever the copy itself belongs. A part of a
cell can therefore be surrounded by cells of other pieces: it would float beside its piece, visibly
attached to nothing. Such parts, if they are smaller than a cell or two, are given to the neighbour
that they share the largest area with.
"""

import numpy as np

from . import graph
from .cells import neighbours

LARGEST = 2.0  # cells: a larger part is a fragment of its own
ROUNDS = 8  # slivers may lie beside slivers


def absorb(cells, particles, partings, spacing):
    """Relabels boxes of slivers; returns the pairs of neighbours, their squares and times."""
    for _ in range(ROUNDS):
        pairs, squares = neighbours(cells)
        times = partings.times(pairs[:, 0], pairs[:, 1])
        sliver = find(cells, particles, pairs, times, spacing)
        target = goal(len(particles.rest), pairs, squares, sliver)
        if (target == np.arange(len(target))).all():
            break
        cells.copy = target[cells.copy]
    return pairs, squares, times


def find(cells, particles, pairs, times, spacing):
    """Which copies' cells are slivers."""
    count = len(particles.rest)
    held = pairs[times == np.inf]
    group = graph.components(count, held[:, 0], held[:, 1])
    joined = np.concatenate([particles.pairs[particles.until == np.inf], held])
    piece = graph.components(count, joined[:, 0], joined[:, 1])
    # volume near the particles only: cells at the surface extend beyond the body
    flat = cells.copy.reshape(-1)
    index = np.column_stack(np.unravel_index(np.arange(flat.size), cells.copy.shape))
    away = ((cells.origin + (index + 0.5) * cells.step - particles.rest[flat]) ** 2).sum(1)
    size = np.bincount(flat[away < (0.65 * spacing) ** 2], minlength=count) * (cells.step / spacing) ** 3
    volume = np.bincount(group, size)
    there = np.bincount(group, np.bincount(flat, minlength=count)) > 0
    of = np.zeros(len(volume), np.int64)
    of[group] = piece
    order = np.lexsort((np.arange(len(volume)), -volume, ~there, of))
    main = np.zeros(len(volume), bool)
    main[order[np.r_[True, of[order][1:] != of[order][:-1]]]] = True
    return (~main & there & (volume < LARGEST))[group]


def goal(count, pairs, squares, sliver):
    """For each copy the one that gets its boxes."""
    meeting = np.bincount(np.concatenate([s[s >= 0] for s in squares]), minlength=len(pairs))
    target = np.arange(count)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    use = sliver[both[:, 0]] & ~sliver[both[:, 1]]
    (mine, other), number = both[use].T, np.concatenate([meeting, meeting])[use]
    order = np.lexsort((other, -number, mine))
    first = np.r_[True, mine[order][1:] != mine[order][:-1]] if len(mine) else np.zeros(0, bool)
    target[mine[order][first]] = other[order][first]
    return target
