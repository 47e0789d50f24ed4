# SPDX-License-Identifier: GPL-3.0-or-later
"""Points of the Voronoi cells that a body breaks along, for the library and the cache; the planes
of its cracks are computed from them."""

import numpy as np

from ..solver import Channel, Sampling

MOST = 1 << 20  # cells
FEW = 8  # particles in a cell: with fewer, cells are not visible in the result


def points_of(made, pattern, fracture, origin):
    """Sets the points of a shot's Pattern on the library's body; fracture: keywords of
    set_fracture."""
    if pattern.points is not None:
        return np.ascontiguousarray(pattern.points, np.float32)
    made.set_fracture(**fracture, cells=count_of(made, pattern), cell_seed=pattern.seed)
    return made.read(Channel.CELL_POINT, origin=origin)


def count_of(made, pattern):
    """Number of cells: as set, or from the given size."""
    info, count = made.info, pattern.count
    if pattern.size > 0:
        sheet = info.sampling not in (Sampling.BLUE_NOISE, Sampling.GRID)
        count = info.particles * (info.spacing / pattern.size) ** (2 if sheet else 3)
    return int(min(max(2, round(count)), MOST))


def apply(made, body, fracture, origin):
    """Applies the pattern to the library's body; returns a warning or None."""
    if body.pattern is None:
        return None
    points = points_of(made, body.pattern, fracture, origin)
    made.set_cells(points, origin=origin)
    cells = len(np.unique(made.read(Channel.CELL)))
    if cells < 2:
        return f"All of '{body.name}' is in one cell of its pattern: it stays whole."
    if made.info.particles < FEW * cells:
        return (
            f"'{body.name}' has {made.info.particles:,} particles in {cells:,} cells: give it "
            f"{FEW * cells:,} or more, or fewer cells."
        )
    return None


def read(made, origin):
    """Points of a body's cells, also after a restore; none: it has no pattern."""
    return made.read(Channel.CELL_POINT, origin=origin)
