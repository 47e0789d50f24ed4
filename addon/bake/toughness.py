# SPDX-License-Identifier: GPL-3.0-or-later
"""How tough each particle of a body is, where artists have marked edges or painted weak places.

A particle is as tough as the point of the surface that is nearest to it: what goes around a body is
weak right through it. Along an edge that is told by distance, not by interpolating between vertices:
on a mesh of few large faces the whole body would be weak.
"""

import numpy as np

from ..solver import Factor

BLOCK = 1 << 22  # distances at a time


def apply(made, body):
    """Tells the library's body what a shot's Body is weak by."""
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
    """From each point to the nearest of segments (m, 2, 3)."""
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
