# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes of a body that breaks along given Voronoi cells.

Without a pattern a crack runs between the particles that parted. With one, the particles of a cell
are those nearest to its point; the space between them and the plane to the next cell belongs to it
too, and cracks lie on these planes, their edges and their corners.
"""

import numpy as np

from . import point_grid

STEEP = 0.97  # as Look.strictness: flat faces on a grid that lies askew need nearly all of it
SLANT = 0.2  # planes that are more alike count as one
FARTHEST = 1.5  # steps of the grid that a corner is moved at most: boxes beside it are nearest to
# their points, so planes are nearer than that, unless they are nearly parallel


class Pattern:
    """The points of a pattern that have particles, and the cell of each particle."""

    def __init__(self, points, rest):
        used, self.of_particle = np.unique(point_grid.nearest(rest, points), return_inverse=True)
        self.points = points[used]

    def cell_at(self, points):
        return point_grid.nearest(points, self.points)

    def of_boxes(self, origin, step, shape):
        """The cell that contains the centre of each box."""
        at = [origin[k] + (np.arange(shape[k]) + 0.5) * step for k in range(3)]
        found = np.empty(shape, np.int64)
        for i, x in enumerate(at[0]):  # a layer at a time: few numbers are under way
            y, z = np.meshgrid(at[1], at[2], indexing="ij")
            found[i] = self.cell_at(np.column_stack([np.full(y.size, x), y.ravel(), z.ravel()])).reshape(y.shape)
        return found

    def around(self, corner_boxes):
        """Planes (c, 7, 4) and which of them count: the bisectors between the first cell at a
        corner and the others. corner_boxes: (c, 8) cells, -1 for none."""
        cells = np.sort(corner_boxes, 1)
        first = np.where(cells < 0, cells.max(1, keepdims=True), cells).min(1)
        one, other = self.points[first], self.points[np.maximum(cells, 0)]
        counts = (cells >= 0) & (cells != first[:, None])
        counts[:, 1:] &= cells[:, 1:] != cells[:, :-1]
        normal = other - one[:, None]
        length = np.sqrt((normal**2).sum(2))
        counts &= length > 0
        normal /= np.where(counts, length, 1)[:, :, None]
        height = (normal * (one[:, None] + other) / 2).sum(2)
        planes = np.concatenate([normal, height[:, :, None]], 2)
        planes[~counts] = 0
        return planes, counts.any(1)


def drop(planes, position):
    """Projects points onto the intersection of all their planes, or to the least-squares solution."""
    normal = planes[:, :, :3]
    lack = planes[:, :, 3] - np.einsum("cpk,ck->cp", normal, position)
    # the least step: through the three directions that the normals span, those that count
    square = np.einsum("cpi,cpj->cij", normal, normal)
    value, vector = np.linalg.eigh(square)
    keep = value > SLANT**2 * np.maximum(value[:, -1:], 1e-300)
    inverse = np.where(keep, 1 / np.where(keep, value, 1), 0)
    pull = np.einsum("cpi,cp->ci", normal, lack)
    return position + np.einsum("cij,cj,ckj,ck->ci", vector, inverse, vector, pull)
