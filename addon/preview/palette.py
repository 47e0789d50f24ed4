# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours for clusters: deterministic, and far apart for neighbours. Does not import bpy."""

import numpy as np

GOLDEN = 0.6180339887498949
HUES = 20
SHADES = ((0.80, 0.95), (0.55, 1.0), (0.85, 0.62))  # saturation and value
NEIGHBOURS = 10
MOST_COMPARED = 6000  # more clusters than this get hues in turn, since they cannot be told apart anyway


def srgb_from_hsv(hue, saturation, value):
    """Arrays in, (n, 3) out."""
    hue, saturation, value = np.broadcast_arrays(hue, saturation, value)
    turned = (np.asarray(hue)[:, None] * 6 + np.array([5.0, 3.0, 1.0])) % 6
    drop = np.clip(np.minimum(turned, 4 - turned), 0, 1)
    return value[:, None] * (1 - saturation[:, None] * drop)


def linear_from_srgb(colours):
    colours = np.asarray(colours)
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def candidates():
    """All colours, in an order in which neighbouring ones differ."""
    turns = (np.arange(HUES) * GOLDEN) % 1.0
    hues = turns.argsort(kind="stable").argsort(kind="stable") / HUES  # their ranks: evenly spaced
    rows = [(hue, *shade) for shade in SHADES for hue in hues]
    return srgb_from_hsv(*np.array(rows).T)


def colour_clusters(centres):
    """(n, 3) sRGB colours of clusters at these centres (greedy graph colouring): each as far as
    possible from those of its neighbours that already have one, otherwise in turn."""
    count = len(centres)
    choices = candidates()
    if count > MOST_COMPARED:
        return choices[np.arange(count) % len(choices)].astype(np.float32)
    near = mutual(neighbours(np.asarray(centres, np.float64), min(NEIGHBOURS, count - 1)))
    apart = np.linalg.norm(choices[:, None] - choices[None], axis=2)
    taken = np.full(count, -1)
    uses = np.zeros(len(choices))
    for i in range(count):
        around = taken[near[i]]
        around = around[around >= 0]
        worth = apart[:, around].min(axis=1) if len(around) else np.full(len(choices), 1.0)
        # often used colours are penalised, so that colours are spread over the body
        taken[i] = np.argmax(np.minimum(worth, 0.6) - 0.02 * (uses - uses.min()))
        uses[taken[i]] += 1
    return choices[taken].astype(np.float32)


def twins(centres, within):
    """For each centre the first one at nearly the same place. Fuzzy clusters may coincide; with two
    colours it would be arbitrary which of them is nearest."""
    first = np.arange(len(centres))
    for rows, squared in distances(np.asarray(centres, np.float64), centres):
        near = squared <= (within[rows] ** 2)[:, None]
        near[np.arange(squared.shape[0]), np.arange(rows.start, rows.stop)] = True
        first[rows] = near.argmax(axis=1)
    return first


def neighbours(centres, count):
    """For each centre the nearest others, (n, count)."""
    if count <= 0:
        return np.empty((len(centres), 0), int)
    found = np.empty((len(centres), count), int)
    for rows, squared in distances(centres, centres):
        squared[np.arange(squared.shape[0]), np.arange(rows.start, rows.stop)] = np.inf
        found[rows] = np.argpartition(squared, count - 1, axis=1)[:, :count]
    return found


def mutual(near):
    """Neighbour lists made symmetric."""
    lists = [list(row) for row in near]
    for i, row in enumerate(near):
        for j in row:
            lists[j].append(i)
    return lists


def nearest(points, centres):
    """For each point the index of the nearest centre."""
    found = np.empty(len(points), np.int64)
    for rows, squared in distances(points, centres):
        found[rows] = squared.argmin(axis=1)
    return found


def distances(points, centres, most=4_000_000):
    """Squared distances in slices that fit in memory: (slice, (rows, centres))."""
    middle = centres.mean(axis=0)
    points, centres = np.asarray(points) - middle, np.asarray(centres) - middle
    lengths = np.einsum("ij,ij->i", centres, centres)
    step = max(1, most // max(1, len(centres)))
    for start in range(0, len(points), step):
        part = points[start : start + step]
        yield (
            slice(start, start + len(part)),
            lengths + np.einsum("ij,ij->i", part, part)[:, None] - 2 * (part @ centres.T),
        )
