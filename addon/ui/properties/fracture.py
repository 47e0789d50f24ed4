# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of bodies that break: when, where, and what the cracks look like."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ...blender.capture.edge_marks import EDGE_MARKS
from .updates import settings_changed


class FractureSettings(bpy.types.PropertyGroup):
    """How a body breaks. Toughness, boost and falloff may be keyframed."""

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
        description="Stretch that the material bears before it breaks (a part of its length): .005 "
        "shatters like glass, .05 snaps like chocolate, .5 tears like flesh. "
        "Pressing alone never breaks anything. Keyframe it to let a body break when it "
        "should",
    )
    boost: FloatProperty(
        name="Boost",
        default=0.0,
        min=0.0,
        soft_max=10.0,
        max=1e6,
        description="How much tougher what has just broken is for a while, over its toughness: more "
        "gives fewer, larger pieces instead of crumbs all at once; 0 is not at all",
    )
    falloff: FloatProperty(
        name="Boost Fades",
        default=3.0,
        min=0.0,
        soft_max=20.0,
        max=1e6,
        description="How fast the boost wears off (rate per second): 3 in about a second, 20 at once",
    )
    use_settle: BoolProperty(
        name="Settle First",
        default=True,
        description="What has just broken is not broken again before it has come to rest or swung "
        "once: against a spray of crumbs",
    )
    breaks: EnumProperty(
        name="Breaks",
        default="ANYWHERE",
        options=set(),
        update=settings_changed,
        description="Where it may break",
        items=[
            (
                "ANYWHERE",
                "Anywhere",
                "Across the direction in which it is stretched most: tears and cracks run as the load does",
            ),
            (
                "CELLS",
                "Along Cells",
                "Only between cells that are cut beforehand: flat, sharp pieces of a size that is known",
            ),
        ],
    )
    cells_from: EnumProperty(
        name="Cells",
        default="COUNT",
        options=set(),
        update=settings_changed,
        description="What the cells are made from",
        items=[
            ("COUNT", "Count", "So many cells, of about the same size"),
            ("SIZE", "Size", "Cells of a size in length"),
            (
                "OBJECT",
                "Object",
                "A cell about each vertex of another object: put more of them "
                "where pieces are to be small, as around a blow",
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
        description="Cells of the whole body. Pieces are one cell or several",
    )
    cell_size: FloatProperty(
        name="Size",
        default=0.2,
        min=1e-6,
        soft_max=10.0,
        unit="LENGTH",
        options=set(),
        update=settings_changed,
        description="How large a cell is",
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
        description="Mesh whose vertices are the middles of the cells, where they are at the first "
        "frame. It need not be rendered",
    )
    most_pieces: IntProperty(
        name="Most Pieces",
        default=0,
        min=0,
        soft_max=500,
        max=1000000,
        options=set(),
        description="The body breaks into at most this many pieces; 0: as many as there come",
    )
    smallest_piece: FloatProperty(
        name="Smallest Piece",
        default=0.2,
        min=0.0,
        max=100.0,
        precision=2,
        subtype="PERCENTAGE",
        options=set(),
        description="Nothing smaller comes off, as a part of the body's mass: larger is calmer, 0 leaves crumbs",
    )
    use_first_frame: BoolProperty(
        name="Not Before",
        default=False,
        options=set(),
        description="Nothing breaks before a frame, however far it is stretched",
    )
    first_frame: IntProperty(
        name="First Frame", default=1, options=set(), description="The first frame at which anything may be broken"
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
        description="Edge attribute of the mesh: edges where it is on, or more than 0, are weak",
    )
    seam_group: StringProperty(
        name="Weak Group",
        options=set(),
        description="Vertex group that is weak where it is painted 1; none: no part is",
    )
    seam_toughness: FloatProperty(
        name="Strength",
        default=0.2,
        min=0.02,
        max=1.0,
        subtype="FACTOR",
        options=set(),
        description="Toughness along weak edges and where the weak group is painted, over that of "
        "the rest: less breaks there sooner and more surely",
    )
    seam_width: FloatProperty(
        name="Width",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        max=1e6,
        unit="LENGTH",
        options=set(),
        description="How far from a weak edge the body is weak. 0: the distance of the body's "
        "particles from each other",
    )
    interior: PointerProperty(
        type=bpy.types.Material,
        name="Inside Material",
        options=set(),
        description="Material of the faces that cracks open; none: that of the faces around them",
    )
    roughness: FloatProperty(
        name="Roughness",
        default=0.15,
        min=0.0,
        soft_max=0.6,
        max=2.0,
        subtype="FACTOR",
        options=set(),
        description="How uneven crack faces are, over the distance of particles: 0 is cut with a "
        "knife, .1 glass or wax, .3 stone or bread",
    )
    grain: FloatProperty(
        name="Grain",
        default=0.7,
        min=0.05,
        soft_max=4.0,
        max=100.0,
        options=set(),
        description="How wide the coarsest bumps on crack faces are, over the distance of particles: "
        "less is grainier, more is wavier",
    )
    detail: FloatProperty(
        name="Detail",
        default=3.0,
        min=1.0,
        soft_max=6.0,
        max=12.0,
        options=set(),
        description="How fine crack faces are: faces from one particle to the next. More takes "
        "longer to cut and more memory",
    )
    smoothing: FloatProperty(
        name="Smooth",
        default=1.0,
        min=0.0,
        soft_max=3.0,
        max=10.0,
        options=set(),
        description="How smooth crack faces are before they are roughened: 0 leaves steps, more is smoother",
    )
    use_partial: BoolProperty(
        name="Partial Cracks",
        default=False,
        options=set(),
        description="Cracks that end within a piece and separate nothing are cut into the mesh, too. "
        "Takes longer, and the mesh may get ten times as many vertices",
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
        "materials and nodes that show where it is about to tear; otherwise it is the "
        "most of the whole bake. Takes as much room on disk as the motion",
    )
    opening: FloatProperty(
        name="Open Over",
        default=2.0,
        min=0.1,
        soft_max=10.0,
        max=100.0,
        options=set(),
        description="Frames over which the two sides of a fresh crack part from each other: less is "
        "crisper, more avoids small jumps where the body is bent",
    )
