# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms between an object's own coordinates and the simulation's.

Simulation positions are in world space, float32 relative to an origin in double. Sums are written
out in double: the same bits with any BLAS, and no loss of precision far from the origin. The
library transforms skinned vertices by the same sums in the same order (pliant_skin_apply).
"""

import numpy as np


_ROWS = 8192  # points at a time, to stay in the processor's cache


def mapped(points, transform):
    """Points, (n, 3), transformed by three rows of four."""
    count = len(points)
    out = np.empty((count, 3), np.float32)
    part, total, term = np.empty((3, _ROWS)), np.empty(_ROWS), np.empty(_ROWS)
    for first in range(0, count, _ROWS):
        rows = min(_ROWS, count - first)
        x, y, z = part[:, :rows]
        part[:, :rows] = points[first : first + rows].T
        summed, other = total[:rows], term[:rows]
        for axis in range(3):
            a, b, c, offset = transform[axis]
            np.multiply(x, a, out=summed)
            summed += np.multiply(y, b, out=other)
            summed += np.multiply(z, c, out=other)
            summed += offset
            out[first : first + rows, axis] = summed
    return out


def _rows_of(linear, offset):
    return np.column_stack([linear, np.asarray(offset, np.float64)])


def to_simulation(local, matrix, origin):
    """Object-local points, (n, 3), to world space relative to origin."""
    return mapped(local, to_world(matrix, origin))


def to_world(matrix, origin):
    """The transform, (3, 4), from an object's coordinates to world space relative to origin."""
    matrix = np.asarray(matrix, np.float64)
    return _rows_of(matrix[:3, :3], matrix[:3, 3] - np.asarray(origin, np.float64))


def to_object(matrix, origin):
    """The transform, (3, 4), from world space relative to origin to an object's coordinates."""
    matrix = np.asarray(matrix, np.float64)
    inverse = np.linalg.inv(matrix[:3, :3])
    return _rows_of(inverse, inverse @ (np.asarray(origin, np.float64) - matrix[:3, 3]))


def vectors_to_local(vectors, matrix):
    """Directions and velocities: no offset."""
    inverse = np.linalg.inv(np.asarray(matrix, np.float64)[:3, :3])
    return mapped(vectors, _rows_of(inverse, np.zeros(3)))


def quaternion(rotation):
    """Quaternion w x y z of a rotation matrix, with w positive, so that signs do not jump."""
    m = rotation
    values = np.array(
        [
            1 + m[0, 0] + m[1, 1] + m[2, 2],
            1 + m[0, 0] - m[1, 1] - m[2, 2],
            1 - m[0, 0] + m[1, 1] - m[2, 2],
            1 - m[0, 0] - m[1, 1] + m[2, 2],
        ]
    )
    best = int(values.argmax())
    s = 2 * np.sqrt(values[best])
    q = [
        (s / 4, (m[2, 1] - m[1, 2]) / s, (m[0, 2] - m[2, 0]) / s, (m[1, 0] - m[0, 1]) / s),
        ((m[2, 1] - m[1, 2]) / s, s / 4, (m[0, 1] + m[1, 0]) / s, (m[0, 2] + m[2, 0]) / s),
        ((m[0, 2] - m[2, 0]) / s, (m[0, 1] + m[1, 0]) / s, s / 4, (m[1, 2] + m[2, 1]) / s),
        ((m[1, 0] - m[0, 1]) / s, (m[0, 2] + m[2, 0]) / s, (m[1, 2] + m[2, 1]) / s, s / 4),
    ][best]
    return tuple(float(v) for v in (np.array(q) if q[0] >= 0 else -np.array(q)))
