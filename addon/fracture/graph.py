# SPDX-License-Identifier: GPL-3.0-or-later
"""Graph algorithms on edges given as two arrays."""

import numpy as np


def components(count, first, second):
    """Connected components of `count` nodes, numbered in the order of their lowest nodes."""
    label = np.arange(count)
    while len(first):
        low = np.minimum(label[first], label[second])
        np.minimum.at(label, label[first], low)
        np.minimum.at(label, label[second], low)
        while (label[label] != label).any():
            label = label[label]
        apart = label[first] != label[second]
        first, second = first[apart], second[apart]
    return np.unique(label, return_inverse=True)[1]


class Neighbours:
    """Adjacency lists (CSR) of undirected edges with a width each."""

    def __init__(self, count, pairs, width):
        both = np.concatenate([pairs, pairs[:, ::-1]])
        order = np.argsort(both[:, 0], kind="stable")
        self.of = both[order, 1]
        self.width = np.concatenate([width, width])[order]
        self.begin = np.searchsorted(both[order, 0], np.arange(count + 1))
        self.local = np.full(count, -1)

    def widest(self, start, allowed):
        """Widest paths: the largest width at which each allowed node can be reached from `start`
        through allowed nodes, -infinity if it cannot. The width of a path is that of its
        narrowest edge."""
        self.local[allowed] = np.arange(len(allowed))
        begin, number = self.begin[allowed], self.begin[allowed + 1] - self.begin[allowed]
        edge = np.repeat(begin - np.r_[0, np.cumsum(number)[:-1]], number) + np.arange(number.sum())
        to, of = self.local[self.of[edge]], np.repeat(np.arange(len(allowed)), number)
        near = to >= 0
        to, of, width = to[near], of[near], self.width[edge][near]
        self.local[allowed] = -1
        reached = np.full(len(allowed), -np.inf)
        reached[allowed == start] = np.inf
        while True:
            before = reached.copy()
            np.maximum.at(reached, to, np.minimum(before[of], width))
            if (reached == before).all():
                return reached

    def widest_of_many(self, starts, begin, allowed):
        """The same from many starts at once, each with its own nodes: those from begin[k] to
        begin[k + 1] are allowed for starts[k]."""
        count, whose = len(self.local), np.repeat(np.arange(len(starts)), np.diff(begin))
        local = np.full(len(starts) * count, -1, np.int32)
        local[whose * count + allowed] = np.arange(len(allowed))
        first, number = self.begin[allowed], self.begin[allowed + 1] - self.begin[allowed]
        edge = np.repeat(first - np.r_[0, np.cumsum(number)[:-1]], number) + np.arange(number.sum())
        of = local[np.repeat(whose * count, number) + self.of[edge]]
        near = np.flatnonzero(of >= 0)
        to = np.repeat(np.arange(len(allowed)), number)[near]
        of, width = of[near], self.width[edge[near]]
        reached = np.full(len(allowed), -np.inf)
        reached[allowed == starts[whose]] = np.inf
        if not len(to):
            return reached
        rows = np.flatnonzero(np.r_[True, to[1:] != to[:-1]])  # edges are sorted by their node
        node = to[rows]
        while True:
            best = np.maximum(reached[node], np.maximum.reduceat(np.minimum(reached[of], width), rows))
            if (best == reached[node]).all():
                return reached
            reached[node] = best


def nearest_source(position, edges, sources, limit):
    """For each vertex the nearest source (a vertex) among those that reach it along the edges, -1
    if none is within `limit`."""
    count = len(position)
    source = np.full(count, -1)
    best = np.full(count, np.inf)
    source[sources], best[sources] = sources, 0
    to, of = np.concatenate([edges[:, 0], edges[:, 1]]), np.concatenate([edges[:, 1], edges[:, 0]])
    fresh = np.zeros(count, bool)
    fresh[sources] = True
    while fresh.any():
        use = fresh[of]
        t, s = to[use], source[of[use]]
        squared = ((position[t] - position[s]) ** 2).sum(1)
        better = (squared < limit**2) & (squared < best[t])
        t, s, squared = t[better], s[better], squared[better]
        order = np.lexsort((s, squared, t))
        t, s, squared = t[order], s[order], squared[order]
        first = np.r_[True, t[1:] != t[:-1]] if len(t) else np.zeros(0, bool)
        fresh = np.zeros(count, bool)
        fresh[t[first]] = True
        source[t[first]], best[t[first]] = s[first], squared[first]
    return source


def spread_values(values, known, edges):
    """Fills unknown rows with the mean of known neighbours, ring by ring."""
    values, known = values.astype(np.float64).copy(), known.copy()
    to, of = np.concatenate([edges[:, 0], edges[:, 1]]), np.concatenate([edges[:, 1], edges[:, 0]])
    while True:
        use = ~known[to] & known[of]
        if not use.any():
            values[~known] = 0
            return values
        number = np.bincount(to[use], minlength=len(values))
        new = number > 0
        for k in range(values.shape[1]):
            values[new, k] = (np.bincount(to[use], values[of[use], k], len(values)) / np.maximum(number, 1))[new]
        known |= new


def unique_edges(triangles):
    ends = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    ends.sort(axis=1)
    size = int(ends.max(initial=0)) + 1
    key = np.sort(ends[:, 0] * size + ends[:, 1])
    key = key[np.r_[True, key[1:] != key[:-1]]] if len(key) else key
    return np.column_stack([key // size, key % size])


def same_places(points, tolerance):
    """A number for each point, equal for points closer than about `tolerance`."""
    if not len(points):
        return np.zeros(0, np.int64)
    first, second = [], []
    # several grids, askew: places on the border of two cells in one are within a cell of another
    for offset in ((0.137, 0.311, 0.777), (0.613, 0.839, 0.293), (0.871, 0.067, 0.541)):
        key = np.floor(points / tolerance + offset).astype(np.int64)
        order = np.lexsort(key.T)
        same = (key[order][1:] == key[order][:-1]).all(1)
        first.append(order[:-1][same])
        second.append(order[1:][same])
    return components(len(points), np.concatenate(first), np.concatenate(second))
