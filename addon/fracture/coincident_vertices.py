# SPDX-License-Identifier: GPL-3.0-or-later
"""Coincident vertices, and when they separate.

Several cracks may meet at a point and open one after another:

        A | B          the four vertices at the middle coincide, then (A B) and (C D), then none.
        --+--          Each crack face joins a vertex on one of its sides with one on the other
        C | D          until its birth; at time t faces with a later birth still join theirs.

The vertex with the lowest number of a joined group is its leader (a union-find with times). Every
other vertex becomes a leader once: at its `birth` it separates from the leader that it had
(`before`).
"""

import numpy as np

from . import graph


def leaders(count, first, second, time):
    """(before, birth) of `count` vertices; first, second: vertices that coincide until a time."""
    before, birth = np.arange(count), np.full(count, np.inf)
    leader = np.arange(count)
    order = np.argsort(-time, kind="stable")
    first, second, time = first[order], second[order], time[order]
    begin = np.flatnonzero(np.r_[True, time[1:] != time[:-1], True]) if len(time) else [0]
    for k in range(len(begin) - 1):
        here = slice(begin[k], begin[k + 1])
        a, b = lead(leader, first[here]), lead(leader, second[here])
        apart = a != b
        node, pair = np.unique(np.concatenate([a[apart], b[apart]]), return_inverse=True)
        half = len(pair) // 2
        group = graph.components(len(node), pair[:half], pair[half:])
        lowest = node[np.unique(group, return_index=True)[1]][group]
        led = lowest != node
        before[node[led]], birth[node[led]] = lowest[led], time[begin[k]]
        leader[node] = lowest
    return before, birth


def lead(leader, vertices):
    """The current leader of each vertex."""
    while True:
        found = leader[vertices]
        if (found == vertices).all():
            return found
        vertices = found


def rejoin(vertices, on_crack, tolerance, earliest, before, birth):
    """Coincident leaders that no crack face joins (they touch in a point only) separate when the
    first crack there opens."""
    alone = on_crack[before[on_crack] == on_crack]
    place = graph.same_places(vertices[alone], tolerance)
    _, first = np.unique(place, return_index=True)
    lowest = alone[first[place]]
    led = lowest != alone
    before[alone[led]] = lowest[led]
    birth[alone[led]] = np.minimum(earliest[alone[led]], earliest[lowest[led]])
