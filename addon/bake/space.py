# SPDX-License-Identifier: GPL-3.0-or-later
"""Between an object's own coordinates and the simulation's.

The simulation has positions in world space, float32 relative to an origin in double. Sums are
written out and done in double: the same bits whatever BLAS is there, and nothing lost far away.
"""
import numpy as np


def _apply(linear, offset, points):
    x, y, z = (points[:, axis].astype(np.float64) for axis in range(3))
    out = np.empty((len(points), 3), np.float32)
    for axis in range(3):
        a, b, c = linear[axis]
        out[:, axis] = x * a + y * b + z * c + offset[axis]
    return out


def to_simulation(local, matrix, origin):
    """Object-local points, (n, 3), to world space relative to origin."""
    matrix = np.asarray(matrix, np.float64)
    return _apply(matrix[:3, :3], matrix[:3, 3] - np.asarray(origin, np.float64), local)


def to_local(points, matrix, origin):
    """World-space points relative to origin to the coordinates of an object."""
    matrix = np.asarray(matrix, np.float64)
    inverse = np.linalg.inv(matrix[:3, :3])
    return _apply(inverse, inverse @ (np.asarray(origin, np.float64) - matrix[:3, 3]), points)


def vectors_to_local(vectors, matrix):
    """Directions and velocities: no offset."""
    return _apply(np.linalg.inv(np.asarray(matrix, np.float64)[:3, :3]), (0.0, 0.0, 0.0), vectors)
