# SPDX-License-Identifier: GPL-3.0-or-later
"""Neighbour search: points binned into a uniform grid."""

from bisect import bisect_left, bisect_right

import numpy as np


class PointGrid:
    """Finds the points within a distance."""

    def __init__(self, points, size):
        self.points, self.size = points, size
        self.low = points.min(0)
        self.shape = np.floor(np.ptp(points, axis=0) / size).astype(np.int64) + 1
        key = self.key(np.floor((points - self.low) / size).astype(np.int64))
        self.order = np.argsort(key, kind="stable")
        self.keys = key[self.order]
        self.sorted = self.keys.tolist()
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
        return found[np.einsum("ij,ij->i", away, away) <= radius**2]

    def every(self, centres, radii):
        """near() for many centres, each with its radius: where the points of each begin (n + 1),
        and the points in the order of near()."""
        count = len(centres)
        low = np.floor((centres - radii[:, None] - self.low) / self.size).astype(np.int64)
        high = np.floor((centres + radii[:, None] - self.low) / self.size).astype(np.int64)
        low, high = np.maximum(low, 0), np.minimum(high, self.shape - 1)
        whose, first, last = [], [], []
        wide = np.maximum(high - low + 1, 0).max(0, initial=0)
        for x in range(wide[0]):
            for y in range(wide[1]):
                fits = np.flatnonzero(
                    (low[:, 0] + x <= high[:, 0]) & (low[:, 1] + y <= high[:, 1]) & (low[:, 2] <= high[:, 2])
                )
                row = ((low[fits, 0] + x) * self.shape[1] + low[fits, 1] + y) * self.shape[2]
                whose.append(fits)
                first.append(np.searchsorted(self.keys, row + low[fits, 2], "left"))
                last.append(np.searchsorted(self.keys, row + high[fits, 2], "right"))
        if not whose:
            return np.zeros(count + 1, np.int64), np.zeros(0, np.int64)
        whose, first, last = (np.concatenate(part) for part in (whose, first, last))
        order = np.argsort(whose, kind="stable")  # rows of a centre in the order of near()
        whose, first, last = whose[order], first[order], last[order]
        number = last - first
        found = np.repeat(first - np.r_[0, np.cumsum(number)[:-1]], number) + np.arange(number.sum())
        found, whose = self.order[found], np.repeat(whose, number)
        away = self.points[found] - centres[whose]
        near = np.einsum("ij,ij->i", away, away) <= radii[whose] ** 2
        found, whose = found[near], whose[near]
        return np.searchsorted(whose, np.arange(count + 1)), found


def nearest(points, others):
    """For each point the index of the nearest of others."""
    found = np.empty(len(points), np.int64)
    step = max(1, 4_000_000 // max(1, len(others)))
    middle = others.mean(0)
    others = others - middle
    squared = (others**2).sum(1)
    for first in range(0, len(points), step):
        part = points[first : first + step] - middle
        found[first : first + step] = (squared - 2 * (part @ others.T)).argmin(1)
    return found
