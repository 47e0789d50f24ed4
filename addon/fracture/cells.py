# SPDX-License-Identifier: GPL-3.0-or-later
"""Divides material space into cells, one for each particle copy, on a regular grid.

A box of the grid belongs to the copy whose rest position is nearest to its centre (a discrete
Voronoi diagram); copies of one particle share its cell, divided by their split planes. A grid
instead of exact polyhedra has no degenerate cases: two boxes share a square or nothing. sheets.py
smooths the steps.
"""

from dataclasses import dataclass

import numpy as np

from . import graph
from .point_grid import PointGrid
from .voronoi import Pattern

NEVER = -np.inf  # time of a pair that never shared a cluster


@dataclass
class Cells:
    origin: np.ndarray  # corner of box (0, 0, 0)
    step: float  # edge of a box
    copy: np.ndarray  # (nx, ny, nz) particle copy of each box
    pattern: object = None  # pattern.Pattern
    cell: np.ndarray = None  # (nx, ny, nz) cell of the pattern that each box is in

    def box_of(self, points):
        """Index (n, 3) of the box that contains each point, the nearest box for points outside."""
        index = np.floor((points - self.origin) / self.step).astype(np.int64)
        return np.clip(index, 0, np.array(self.copy.shape) - 1)

    def copy_at(self, points):
        return self.copy[tuple(self.box_of(points).T)]


def spacing_of(particles):
    """Rest distance of neighbours: given, or estimated from the volume of the bounding box."""
    if particles.spacing > 0:
        return float(particles.spacing)
    rest = particles.rest[particles.parent < 0]
    extent = np.ptp(rest, axis=0)
    largest = extent.max(initial=0)
    if not largest > 0:
        return 1.0
    used = extent[extent > 1e-6 * largest] / largest
    return float(largest * (used.prod() / len(rest)) ** (1 / len(used)))


def divide(particles, low, high, spacing, look):
    """Cells of the space from `low` to `high` with a margin."""
    step = spacing / max(look.detail, 1.0)
    margin = 1.5 * spacing
    extent = np.maximum(high - low, spacing) + 2 * margin
    while np.ceil(extent / step).prod() > look.most_cells:
        step *= 1.05
    shape = np.ceil(extent / step).astype(np.int64) + 2
    middle = (low + high) / 2
    cells = Cells(middle - shape * step / 2, step, None)
    sites = np.flatnonzero(particles.parent < 0)
    of_site = None
    if len(particles.cell_point) > 1:
        cells.pattern = Pattern(particles.cell_point, particles.rest[sites])
        cells.cell, of_site = cells.pattern.of_boxes(cells.origin, step, shape), cells.pattern.of_particle
    nearest = stamp(cells.origin, step, shape, particles.rest[sites], spacing, cells.cell, of_site)
    if of_site is not None:
        spread(nearest, cells.cell)
    spread(nearest)
    cells.copy = follow_splits(cells, sites[nearest], particles)
    return cells


def stamp(origin, step, shape, rest, spacing, cell=None, of_site=None):
    """The nearest of `rest` for the centre of each box that has one nearby, otherwise -1.

    Every site is compared with the boxes around it, one offset at a time for all sites at once;
    sites that share a box are processed in turn, so that no two write to one place. cell, of_site:
    pattern cells; a box takes sites of its own cell only.
    """
    nearest = np.full(shape, -1, np.int64)
    flat, best = nearest.reshape(-1), np.full(nearest.size, np.inf)
    base = np.clip(np.floor((rest - origin) / step).astype(np.int64), 0, shape - 1)
    stride = np.array([shape[1] * shape[2], shape[2], 1])
    order = np.argsort(base @ stride, kind="stable")
    place = (base @ stride)[order]
    first = np.r_[True, place[1:] != place[:-1]]
    turn = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    reach = int(np.ceil(1.3 * spacing / step))
    offsets = np.stack(np.meshgrid(*[np.arange(-reach, reach + 1)] * 3, indexing="ij"), -1)
    offsets = offsets.reshape(-1, 3)
    offsets = offsets[(offsets**2).sum(1) <= (reach + 1) ** 2]
    for t in range(turn.max(initial=-1) + 1):
        sites = order[turn == t]
        for offset in offsets:
            box = base[sites] + offset
            fits = ((box >= 0) & (box < shape)).all(1)
            box, who = box[fits], sites[fits]
            squared = ((origin + (box + 0.5) * step - rest[who]) ** 2).sum(1)
            index = box @ stride
            nearer = squared < best[index]
            if cell is not None:
                nearer &= cell.reshape(-1)[index] == of_site[who]
            best[index[nearer]] = squared[nearer]
            flat[index[nearer]] = who[nearer]
    return nearest


def spread(labels, cell=None):
    """Flood fill: boxes without a label take that of a neighbour, of the same cell if given. Only
    boxes labelled in the last round are visited, so each is visited once."""
    flat, of = labels.reshape(-1), None if cell is None else cell.reshape(-1)
    fresh = np.flatnonzero(flat >= 0)
    while len(fresh):
        place, taken = np.unravel_index(fresh, labels.shape), []
        for axis, stride in enumerate((labels.shape[1] * labels.shape[2], labels.shape[2], 1)):
            for step in (1, -1):
                source = fresh[(place[axis] + step >= 0) & (place[axis] + step < labels.shape[axis])]
                target = source + step * stride
                take = flat[target] < 0
                if of is not None:
                    take &= of[target] == of[source]
                flat[target[take]] = flat[source[take]]
                taken.append(target[take])
        fresh = np.concatenate(taken)


def follow_splits(cells, copy, particles):
    """The final copy of each box of a divided particle: follows its splits, oldest first."""
    if not len(particles.split_old):
        return copy
    flat = copy.reshape(-1)
    divided = np.zeros(len(particles.rest), bool)
    divided[particles.split_old] = True
    box = np.flatnonzero(divided[flat])
    box = box[np.argsort(flat[box], kind="stable")]
    owner, begin = np.unique(flat[box], return_index=True)
    boxes = dict(zip(owner.tolist(), np.split(box, begin[1:])))  # boxes of each copy, updated split by split
    middles = cells.origin + (np.column_stack(np.unravel_index(box, copy.shape)) + 0.5) * cells.step
    at = np.empty(flat.size, np.int64)
    at[box] = np.arange(len(box))
    for s in np.argsort(particles.split_time, kind="stable"):
        own = boxes.get(int(particles.split_old[s]))
        if own is None:
            continue
        side = (middles[at[own]] - particles.split_point[s]) @ particles.split_normal[s] > 0
        boxes[int(particles.split_old[s])] = own[~side]
        boxes[int(particles.split_new[s])] = own[side]
        flat[own[side]] = particles.split_new[s]
    return copy


class Partings:
    """When two copies parted: the time they last shared a cluster, infinity if they still do."""

    def __init__(self, particles, spacing):
        self.particles, self.count = particles, len(particles.rest)
        self.near = 2.5 * spacing
        self.around = self.point_grid = None  # made on first use
        low, high = particles.pairs.min(1, initial=self.count), particles.pairs.max(1, initial=-1)
        key = low * self.count + high
        order = np.lexsort((-particles.until, key))
        key, until = key[order], particles.until[order]
        first = np.r_[True, key[1:] != key[:-1]] if len(key) else np.zeros(0, bool)
        self.key, self.until = key[first], until[first]
        both = np.concatenate([particles.pairs, particles.pairs[:, ::-1]])
        self.neighbour = both[np.argsort(both[:, 0], kind="stable"), 1]
        self.begin = np.searchsorted(np.sort(both[:, 0]), np.arange(self.count + 1))

    def listed(self, a, b):
        """Times of listed pairs, NEVER for others."""
        if not len(self.key):
            return np.full(len(a), NEVER)
        key = np.minimum(a, b) * self.count + np.maximum(a, b)
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[at] == key, self.until[at], NEVER)

    def times(self, a, b):
        """Times of pairs of different copies (two arrays).

        An unlisted pair has the time of its ancestors, up to the younger one's birth. Neighbours
        that never shared a cluster are held together by a third particle near both, as at the seam
        of two clusters: they part when the last such bridge does, or the last path through others.
        """
        a, b = a.copy(), b.copy()
        start_a, start_b = a.copy(), b.copy()
        parent, birth = self.particles.parent, self.particles.birth
        time, limit = np.full(len(a), NEVER), np.full(len(a), np.inf)
        going = np.ones(len(a), bool)
        while going.any():
            known = self.listed(a, b)
            done = going & ((known > NEVER) | (a == b))
            time[done] = np.minimum(limit[done], np.where(a == b, np.inf, known)[done])
            going &= ~done
            lift_a = going & (parent[a] >= 0) & ((birth[a] >= birth[b]) | (parent[b] < 0))
            lift_b = going & ~lift_a & (parent[b] >= 0)
            limit[lift_a] = np.minimum(limit[lift_a], birth[a[lift_a]])
            limit[lift_b] = np.minimum(limit[lift_b], birth[b[lift_b]])
            a[lift_a], b[lift_b] = parent[a[lift_a]], parent[b[lift_b]]
            going = lift_a | lift_b
        for i in np.flatnonzero(time == NEVER):
            time[i] = self.bridge(start_a[i], start_b[i])
        for i in np.flatnonzero(time == NEVER):
            time[i] = self.way(start_a[i], start_b[i])
        return time

    def bridge(self, a, b):
        rest = self.particles.rest
        common = np.intersect1d(
            self.neighbour[self.begin[a] : self.begin[a + 1]], self.neighbour[self.begin[b] : self.begin[b + 1]]
        )
        near = (((rest[common] - rest[a]) ** 2).sum(1) < self.near**2) & (
            ((rest[common] - rest[b]) ** 2).sum(1) < self.near**2
        )
        common = common[near]
        if not len(common):
            return NEVER
        through = np.minimum(self.listed(np.full(len(common), a), common), self.listed(np.full(len(common), b), common))
        return float(through.max())

    def way(self, a, b):
        """Until when one could be reached from the other through nearby particles that shared
        clusters."""
        if self.around is None:
            self.around = graph.Neighbours(self.count, self.particles.pairs, self.particles.until)
            self.point_grid = PointGrid(self.particles.rest, self.near)
        rest = self.particles.rest
        apart = np.sqrt(((rest[a] - rest[b]) ** 2).sum())
        allowed = self.point_grid.near((rest[a] + rest[b]) / 2, apart + 2 * self.near)
        return float(self.around.widest(a, allowed)[allowed == b][0])


def neighbours(cells):
    """Pairs (low, high) of copies whose cells are adjacent, and for each axis the pair at each
    square between boxes: index into the pairs, or -1 within a cell."""
    count = int(cells.copy.max()) + 1
    keys, squares = [], []
    for axis in range(3):
        lower = np.take(cells.copy, range(cells.copy.shape[axis] - 1), axis)
        upper = np.take(cells.copy, range(1, cells.copy.shape[axis]), axis)
        key = np.minimum(lower, upper) * count + np.maximum(lower, upper)
        key[lower == upper] = -1
        squares.append(key)
        keys.append(np.unique(key))
    unique = np.unique(np.concatenate(keys))
    unique = unique[unique >= 0]
    for axis in range(3):
        found = np.searchsorted(unique, squares[axis])
        found[squares[axis] < 0] = -1
        squares[axis] = found
    return np.column_stack([unique // count, unique % count]), squares
