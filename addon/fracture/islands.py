# SPDX-License-Identifier: GPL-3.0-or-later
"""Slivers of material that hang on nothing.

A copy's cell is what the planes of splits left of it, wherever the copy itself belongs. So a part of a
cell may lie among cells of other pieces only: it would float beside its piece, attached to nothing
that can be seen. Such islands, where they are smaller than a cell or two, go to the cell that they
touch most.
"""

import numpy as np

from . import graph
from .cells import neighbours

LARGEST = 2.0  # cells: what is larger is a fragment in its own right
ROUNDS = 8  # islands may lie beside islands


def absorb(cells, particles, partings, spacing):
    """Relabels boxes of islands; returns the pairs of neighbours, their squares and times."""
    for _ in range(ROUNDS):
        pairs, squares = neighbours(cells)
        times = partings.times(pairs[:, 0], pairs[:, 1])
        island = find(cells, particles, pairs, times, spacing)
        target = goal(len(particles.rest), pairs, squares, island)
        if (target == np.arange(len(target))).all():
            break
        cells.copy = target[cells.copy]
    return pairs, squares, times


def find(cells, particles, pairs, times, spacing):
    """Which copies' cells are of islands."""
    count = len(particles.rest)
    held = pairs[times == np.inf]
    group = graph.components(count, held[:, 0], held[:, 1])
    joined = np.concatenate([particles.pairs[particles.until == np.inf], held])
    piece = graph.components(count, joined[:, 0], joined[:, 1])
    # volume near the particles: cells at the surface reach out of the body
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


def goal(count, pairs, squares, island):
    """For each copy the one that gets its boxes."""
    meeting = np.bincount(np.concatenate([s[s >= 0] for s in squares]), minlength=len(pairs))
    target = np.arange(count)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    use = island[both[:, 0]] & ~island[both[:, 1]]
    (mine, other), number = both[use].T, np.concatenate([meeting, meeting])[use]
    order = np.lexsort((other, -number, mine))
    first = np.r_[True, mine[order][1:] != mine[order][:-1]] if len(mine) else np.zeros(0, bool)
    target[mine[order][first]] = other[order][first]
    return target
