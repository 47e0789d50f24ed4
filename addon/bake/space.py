# SPDX-License-Identifier: GPL-3.0-or-later
"""Between an object's own coordinates and the simulation's.

The simulation has positions in world space, float32 relative to an origin in double. Sums are
written out and done in double: the same bits whatever BLAS is there, and nothing lost far away.
"""
import numpy as np


_ROWS = 8192  # points at a time: what is worked on stays in the processor's cache


def _apply(linear, offset, points, out=None):
    count = len(points)
    out = np.empty((count, 3), np.float32) if out is None else out
    part, total, term = np.empty((3, _ROWS)), np.empty(_ROWS), np.empty(_ROWS)
    for first in range(0, count, _ROWS):
        rows = min(_ROWS, count - first)
        x, y, z = part[:, :rows]
        part[:, :rows] = points[first:first + rows].T
        summed, other = total[:rows], term[:rows]
        for axis in range(3):
            a, b, c = linear[axis]
            np.multiply(x, a, out=summed)
            summed += np.multiply(y, b, out=other)
            summed += np.multiply(z, c, out=other)
            summed += offset[axis]
            out[first:first + rows, axis] = summed
    return out


def to_simulation(local, matrix, origin):
    """Object-local points, (n, 3), to world space relative to origin."""
    matrix = np.asarray(matrix, np.float64)
    return _apply(matrix[:3, :3], matrix[:3, 3] - np.asarray(origin, np.float64), local)


def to_local(points, matrix, origin, out=None):
    """World-space points relative to origin to the coordinates of an object. `out`: an array for
    them, (n, 3) float32."""
    matrix = np.asarray(matrix, np.float64)
    inverse = np.linalg.inv(matrix[:3, :3])
    return _apply(inverse, inverse @ (np.asarray(origin, np.float64) - matrix[:3, 3]), points, out)


def vectors_to_local(vectors, matrix):
    """Directions and velocities: no offset."""
    return _apply(np.linalg.inv(np.asarray(matrix, np.float64)[:3, :3]), (0.0, 0.0, 0.0), vectors)
