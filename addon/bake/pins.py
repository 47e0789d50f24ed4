# SPDX-License-Identifier: GPL-3.0-or-later
"""Which particles a painted pin group holds, and how strongly.

Weights are interpolated at each particle. That alone would lose the most common case: one row of
vertices at the edge of a sheet, painted 1, with no particle exactly on it. Therefore the particle
nearest to a painted vertex gets at least that vertex's weight.
"""

import itertools

import numpy as np

from ..solver import Channel


def particle_weights(made, body, origin):
    """Weight of each particle of a library's body, 0 to 1, from body.pins at the mesh's vertices."""
    # original particles only: copies inherit the weight of their original
    first = np.count_nonzero(made.read(Channel.PARENT) == np.arange(made.info.particles))
    weights = np.clip(made.sample_mesh_values(body.pins), 0.0, 1.0).astype(np.float32)[:first]
    painted = np.flatnonzero(body.pins > 0)
    spacing = float(made.info.spacing)
    if len(painted) and spacing > 0:
        rest = made.read(Channel.REST, origin=origin)[:first]
        nearest = nearest_within(body.vertices[painted], rest, spacing)
        found = nearest >= 0
        np.maximum.at(weights, nearest[found], np.clip(body.pins[painted][found], 0.0, 1.0).astype(np.float32))
    return weights


def nearest_within(points, others, reach):
    """For each point the index of the nearest of the others, -1 if none is within about `reach`.
    The others are binned into cells of that size; 27 cells are searched for a point."""
    low = np.minimum(points.min(axis=0), others.min(axis=0)).astype(np.float64)
    high = np.maximum(points.max(axis=0), others.max(axis=0)).astype(np.float64)
    width = np.floor((high - low) / reach) + 3
    if not np.prod(width) < 2.0**62:
        return np.full(len(points), -1)  # more cells than an index can hold; no body has that many particles
    width = width.astype(np.int64)
    cells = np.floor((others - low) / reach).astype(np.int64) + 1
    own = np.floor((points - low) / reach).astype(np.int64) + 1
    steps = np.array([width[1] * width[2], width[2], 1])
    keys = cells @ steps
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    best = np.full(len(points), np.inf)
    nearest = np.full(len(points), -1)
    for offset in itertools.product((-1, 0, 1), repeat=3):
        wanted = (own + offset) @ steps
        first = np.searchsorted(keys, wanted, "left")
        count = np.searchsorted(keys, wanted, "right") - first
        for number in range(int(count.max(initial=0))):
            here = np.flatnonzero(count > number)
            other = order[first[here] + number]
            away = ((points[here].astype(np.float64) - others[other]) ** 2).sum(axis=1)
            closer = away < best[here]
            best[here[closer]], nearest[here[closer]] = away[closer], other[closer]
    return nearest
