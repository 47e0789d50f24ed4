# SPDX-License-Identifier: GPL-3.0-or-later
"""Fracture settings: threshold, crack pattern, limits, and the look of crack faces."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ...blender.capture.edge_marks import EDGE_MARKS
from .updates import settings_changed


class FractureSettings(bpy.types.PropertyGroup):
    """How a body breaks. Toughness, boost and falloff can be keyframed."""

    use_fracture: BoolProperty(
        name="Fracture",
        default=False,
        options=set(),
        description="What is stretched too far breaks: the body tears or shatters into pieces, each "
        "with faces where it broke. Not with quadratic goals, nor with independent "
        "levels",
    )
    toughness: FloatProperty(
        name="Toughness",
        default=0.1,
        min=0.0,
        soft_max=1.0,
        max=1e6,
        precision=3,
        step=1,
        description="Stretch at which the material breaks (a part of its length): .005 shatters like "
        "glass, .05 snaps like chocolate, .5 tears like flesh. Compression alone never "
        "breaks anything. Keyframe it to let a body break when it should",
    )
    boost: FloatProperty(
        name="Boost",
        default=0.0,
        min=0.0,
        soft_max=10.0,
        max=1e6,
        description="How much tougher the surroundings of a fresh crack are for a while, as a "
        "multiple of Toughness: more gives fewer, larger pieces instead of many crumbs at"
        " once; 0 switches it off",
    )
    falloff: FloatProperty(
        name="Boost Fades",
        default=3.0,
        min=0.0,
        soft_max=20.0,
        max=1e6,
        description="Rate at which Boost decays (per second): 3 lasts about a second, 20 ends almost at once",
    )
    use_settle: BoolProperty(
        name="Settle First",
        default=True,
        description="What has just broken cannot break again before it has come to rest or swung "
        "once: prevents a spray of crumbs",
    )
    breaks: EnumProperty(
        name="Breaks",
        default="ANYWHERE",
        options=set(),
        update=settings_changed,
        description="Where cracks may run",
        items=[
            (
                "ANYWHERE",
                "Anywhere",
                "Anywhere, across the direction of the largest stretch: tears and cracks follow the load",
            ),
            (
                "CELLS",
                "Along Cells",
                "Only between Voronoi cells that are made beforehand: flat, sharp pieces of a known size",
            ),
        ],
    )
    cells_from: EnumProperty(
        name="Cells",
        default="COUNT",
        options=set(),
        update=settings_changed,
        description="How the cells are made",
        items=[
            ("COUNT", "Count", "So many cells, of about the same size"),
            ("SIZE", "Size", "Cells of a size in length"),
            (
                "OBJECT",
                "Object",
                "One cell about each vertex of another object: place more vertices where pieces are "
                "to be small, as around a blow",
            ),
        ],
    )
    cells: IntProperty(
        name="Count",
        default=40,
        min=2,
        soft_max=1000,
        max=1 << 20,
        options=set(),
        update=settings_changed,
        description="Number of cells of the whole body. A piece is one cell or several",
    )
    cell_size: FloatProperty(
        name="Size",
        default=0.2,
        min=1e-6,
        soft_max=10.0,
        unit="LENGTH",
        options=set(),
        update=settings_changed,
        description="Size of a cell",
    )
    cell_seed: IntProperty(
        name="Seed", default=0, min=0, options=set(), update=settings_changed, description="Another number, other cells"
    )
    cells_object: PointerProperty(
        type=bpy.types.Object,
        name="Object",
        options=set(),
        update=settings_changed,
        poll=lambda self, obj: obj.type == "MESH",
        description="Mesh whose vertices at the first frame are the centres of the cells. It need not be rendered",
    )
    most_pieces: IntProperty(
        name="Most Pieces",
        default=0,
        min=0,
        soft_max=500,
        max=1000000,
        options=set(),
        description="Largest number of pieces; 0 is no limit",
    )
    smallest_piece: FloatProperty(
        name="Smallest Piece",
        default=0.2,
        min=0.0,
        max=100.0,
        precision=2,
        subtype="PERCENTAGE",
        options=set(),
        description="Smallest piece that may break off, as a part of the body's mass: larger is "
        "calmer, 0 allows crumbs",
    )
    use_first_frame: BoolProperty(
        name="Not Before",
        default=False,
        options=set(),
        description="Nothing breaks before First Frame, however far it is stretched",
    )
    first_frame: IntProperty(
        name="First Frame", default=1, options=set(), description="First frame at which the body may break"
    )
    seam_edges: EnumProperty(
        name="Weak Edges",
        default="NONE",
        options=set(),
        description="Edges of the mesh along which the body is weak, through its whole thickness: it "
        "breaks there first",
        items=[
            ("NONE", "None", "No edge is weak"),
            *((name, label, text) for name, (label, text) in EDGE_MARKS.items()),
        ],
    )
    seam_attribute: StringProperty(
        name="Attribute",
        options=set(),
        description="Edge attribute of the mesh: edges with a value of on, or more than 0, are weak",
    )
    seam_group: StringProperty(
        name="Weak Group",
        options=set(),
        description="Vertex group of weak places: weak where it is painted 1; none: no place is weak",
    )
    seam_toughness: FloatProperty(
        name="Strength",
        default=0.2,
        min=0.02,
        max=1.0,
        subtype="FACTOR",
        options=set(),
        description="Factor on the toughness along weak edges and in the weak group: less breaks "
        "there sooner and more surely",
    )
    seam_width: FloatProperty(
        name="Width",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        max=1e6,
        unit="LENGTH",
        options=set(),
        description="Distance from a weak edge within which the body is weak. 0: the distance of the "
        "body's particles from each other",
    )
    interior: PointerProperty(
        type=bpy.types.Material,
        name="Inside Material",
        options=set(),
        description="Material of the crack faces; none: that of the faces around them",
    )
    roughness: FloatProperty(
        name="Roughness",
        default=0.15,
        min=0.0,
        soft_max=0.6,
        max=2.0,
        subtype="FACTOR",
        options=set(),
        description="Height of the bumps on crack faces, relative to the distance of particles: 0 is "
        "cut with a knife, .1 glass or wax, .3 stone or bread",
    )
    grain: FloatProperty(
        name="Grain",
        default=0.7,
        min=0.05,
        soft_max=4.0,
        max=100.0,
        options=set(),
        description="Width of the coarsest bumps on crack faces, relative to the distance of "
        "particles: less is grainier, more is wavier",
    )
    detail: FloatProperty(
        name="Detail",
        default=3.0,
        min=1.0,
        soft_max=6.0,
        max=12.0,
        options=set(),
        description="Resolution of crack faces: faces from one particle to the next. More takes "
        "longer to cut and more memory",
    )
    smoothing: FloatProperty(
        name="Smooth",
        default=1.0,
        min=0.0,
        soft_max=3.0,
        max=10.0,
        options=set(),
        description="Smoothing of crack faces before bumps are added: 0 leaves steps, more is smoother",
    )
    use_partial: BoolProperty(
        name="Partial Cracks",
        default=False,
        options=set(),
        description="Also cut cracks that end within a piece and separate nothing. Takes longer, and "
        "the mesh may get ten times as many vertices",
    )
    uv_scale: FloatProperty(
        name="Inside UV Scale",
        default=1.0,
        min=1e-4,
        soft_max=10.0,
        max=1e4,
        options=set(),
        description="Size of a texture on crack faces: UV units for each metre",
    )
    use_stretch: BoolProperty(
        name="Save Stretch",
        default=False,
        options=set(),
        description='The attribute "stretch" of the mesh with cracks changes with the frame, for '
        "materials and nodes that show where it is about to tear; off, it is the largest "
        "stretch of the whole bake. Takes as much room on disk as the motion",
    )
    opening: FloatProperty(
        name="Open Over",
        default=2.0,
        min=0.1,
        soft_max=10.0,
        max=100.0,
        options=set(),
        description="Frames over which the two sides of a fresh crack separate: fewer is crisper, "
        "more avoids small jumps where the body is bent",
    )
