# SPDX-License-Identifier: GPL-3.0-or-later
"""Crack surfaces: cuts a mesh along its cracks, from the final connectivity of its particles.

    datatypes  input and output, as plain arrays
    cells      Voronoi cells of the particle copies on a grid; when neighbours parted
    slivers    parts of cells that are disconnected from their piece
    voronoi    the planes of a body that breaks along given Voronoi cells
    sheets     the cracks between cells, smoothed and roughened, as an opened solid
    cut        boolean intersection of the mesh with it (manifold3d)
    assemble   polygons, UVs, materials, weights, pieces and births of the result
    open_meshes  meshes that are not closed solids
    binding    which particles the vertices follow, before and after
    point_grid  neighbour search in a uniform grid
    graph      connected components, widest paths, coincident points
    coincident_vertices  vertices at one place, and when they separate
    background  runs all of this in another process: cutting holds the GIL
    archive    serialisation of the data types in one file of arrays

Does not import bpy.
"""

from .background import break_in_background
from .breaking import break_mesh
from .datatypes import Broken, CrackError, Look, Particles, Surface, check_broken, pairs_of_groups

__all__ = [
    "Broken",
    "CrackError",
    "Look",
    "Particles",
    "Surface",
    "break_in_background",
    "break_mesh",
    "pairs_of_groups",
]
