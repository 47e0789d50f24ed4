# SPDX-License-Identifier: GPL-3.0-or-later
"""Crack surfaces: from a mesh and its particles' final connectivity to one mesh with crack faces.

    contract   what goes in and comes out, as plain arrays
    cells      material space divided among the particle copies; when neighbours parted
    islands    slivers of cells that hang on nothing
    voronoi    the planes of a body that breaks along cells made beforehand
    sheets     the cracks between them, smoothed and roughened, as an opened solid
    cut        the mesh cut with it (manifold3d)
    assemble   polygons, UVs, materials, weights, pieces and births of the result
    open_meshes  meshes that are no solid
    binding    which particles the vertices follow, before and after
    bins       points near a point
    graph      components, widest ways, points at one place
    parting    vertices at one place, and when they stopped being one
    background  the same in a process of its own: cutting holds Python's lock
    archive    everything above in one file of arrays

Nothing here knows Blender.
"""

from .background import break_in_background
from .breaking import break_mesh
from .contract import Broken, CrackError, Look, Particles, Surface, check_broken, pairs_of_groups

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
