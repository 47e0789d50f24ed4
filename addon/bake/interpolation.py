# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpolation of particle values at points.

A point gets the weighted mean of the particles within REACH spacings; the kernel falls to zero at
the border, so that values are continuous when particles come, go or pass by.
"""

import numpy as np

from ..fracture.point_grid import PointGrid, nearest

REACH = 2.0


def means(places, particles, values, spacing):
    """Values (rows, points) from values (rows, particles). A point without particles nearby gets
    those of the nearest."""
    places, particles = np.asarray(places, np.float64), np.asarray(particles, np.float64)
    radius = REACH * spacing
    begin, found = PointGrid(particles, radius).every(places, np.full(len(places), radius))
    place = np.repeat(np.arange(len(places)), np.diff(begin))
    away = particles[found] - places[place]
    kernel = np.maximum(1 - np.einsum("ij,ij->i", away, away) / radius**2, 0) ** 2
    total = np.bincount(place, kernel, len(places))
    alone = np.flatnonzero(total < 1e-6)
    total[alone] = 1
    result = np.array([np.bincount(place, kernel * row[found], len(places)) / total for row in values])
    if alone.size:
        result[:, alone] = values[:, nearest(places[alone], particles)]
    return result
