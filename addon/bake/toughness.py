# SPDX-License-Identifier: GPL-3.0-or-later
"""Toughness of each particle of a body with marked edges or painted weak places.

A particle takes the value of the nearest point on the surface, so that weak places go through the
whole thickness. Weakness along an edge depends on the distance from it and is not interpolated
between vertices: on a mesh of few large faces the whole body would be weak.
"""

import numpy as np

from ..solver import Factor

BLOCK = 1 << 22  # distances computed at a time


def apply(made, body):
    """Sets the weak places of a shot's Body on the library's body."""
    if body.weak is None:
        return
    weakness = np.zeros(made.info.particles)
    surface = made.sample_mesh_values(np.ascontiguousarray(body.vertices, np.float32))
    if len(body.weak.edges):
        width = body.weak.width or float(made.info.spacing)
        near = 1 - distances(surface, body.vertices[body.weak.edges]) / max(width, 1e-30)
        weakness = np.clip(near, 0, 1)
        weakness = weakness * weakness * (3 - 2 * weakness)
    if body.weak.group is not None:
        weakness = np.maximum(weakness, np.clip(made.sample_mesh_values(body.weak.group), 0, 1))
    factors = 1 + (body.weak.factor - 1) * weakness
    painted = body.factors.get("toughness_factor")
    if painted is not None:
        factors = factors * made.sample_mesh_values(painted)
    made.set_factors(Factor.TOUGHNESS, factors.astype(np.float32))


def distances(points, segments):
    """Distance from each point to the nearest of segments (m, 2, 3)."""
    points, segments = np.asarray(points, np.float64), np.asarray(segments, np.float64)
    begin, along = segments[:, 0], segments[:, 1] - segments[:, 0]
    squared = np.maximum((along**2).sum(1), 1e-300)
    found = np.empty(len(points))
    step = max(1, BLOCK // max(1, 3 * len(segments)))
    for first in range(0, len(points), step):
        away = points[first : first + step, None] - begin
        part = np.clip((away * along).sum(2) / squared, 0, 1)
        left = away - part[:, :, None] * along
        found[first : first + step] = (left**2).sum(2).min(1)
    return np.sqrt(found)
