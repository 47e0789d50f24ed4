# SPDX-License-Identifier: GPL-3.0-or-later
"""What the artist sets: `Object.pliant` and `Scene.pliant`.

Only settings are here, never the state of a bake: a file that was saved in the middle of one opens
as if nothing had been going on. Names and meanings follow pliant.h; every tooltip says what the
setting does to the look.
"""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...blender import compat, folders, presets
from . import contacts, fracture
from .material import MaterialSettings, PaintSettings
from .updates import preview_redrawn, settings_changed

MAX_LEVELS = 16
RESULTS = [
    ("PC2", "Point Cache", "Plays through a Mesh Cache modifier: light and exact"),
    ("MDD", "MDD", "The same in a format that other programs read"),
    ("SHAPE_KEYS", "Shape Keys", "Kept in the .blend file: heavy above some hundred frames"),
    ("ALEMBIC", "Alembic", "For other programs and farms, with motion blur"),
]


class ClusterSettings(bpy.types.PropertyGroup):
    """How the body is divided into overlapping clusters, and their levels."""

    algorithm: EnumProperty(
        name="Algorithm",
        default="FUZZY",
        options=set(),
        update=settings_changed,
        description="How clusters are found",
        items=[
            ("FUZZY", "Fuzzy", "Even clusters with smooth borders: the best look"),
            ("KMEANS", "K-Means", "Even clusters, borders from their radius"),
            ("RANDOM", "Random", "Clusters about random particles until all are in one"),
        ],
    )
    kernel: EnumProperty(
        name="Kernel",
        default="INVSQ",
        options=set(),
        update=settings_changed,
        description="How a particle's weight in a cluster falls with its distance",
        items=[
            ("INVSQ", "Inverse Square", "Steep: crisp motion"),
            ("BOX", "Box", "Flat: all particles of a cluster count the same"),
            ("POLY6", "Poly6", "A smooth bell that ends at the radius"),
            ("BLEND", "Blend", "A bell on a plateau"),
            ("FCM", "Fuzzy C-Means", "Weights of fuzzy c-means clustering"),
        ],
    )
    kernel_parameter: FloatProperty(
        name="Parameter",
        default=0.0,
        min=0.0,
        soft_max=5.0,
        max=100.0,
        options=set(),
        update=settings_changed,
        description="The kernel's own parameter; 0 takes its usual value",
    )
    count_mode: EnumProperty(
        name="Clusters",
        default="AUTO",
        options=set(),
        update=settings_changed,
        description="How many clusters",
        items=[
            ("AUTO", "Auto", "One for about thirty particles"),
            ("COUNT", "Count", "A number of clusters"),
            ("SIZE", "Size", "Clusters of a size in length: finer details move"),
        ],
    )
    count: IntProperty(
        name="Count",
        default=100,
        min=1,
        soft_max=5000,
        max=1000000,
        options=set(),
        update=settings_changed,
        description="Clusters of the finest level. More bend in finer detail and cost more",
    )
    size: FloatProperty(
        name="Size",
        default=0.3,
        min=1e-6,
        soft_max=10.0,
        unit="LENGTH",
        options=set(),
        update=settings_changed,
        description="How large clusters are: about the smallest thing that bends by itself. No smaller "
        "than three particles for each",
    )
    max_iterations: IntProperty(
        name="Iterations",
        default=100,
        min=1,
        soft_max=1000,
        max=100000,
        options=set(),
        update=settings_changed,
        description="How often clusters may move before they have to stay where they are",
    )
    fixed: BoolProperty(
        name="Exact",
        default=False,
        options=set(),
        update=settings_changed,
        description="Count and radius stay as they are set, also where clusters then find no even "
        "places, which is told. Otherwise both grow until they do",
    )
    radius_mode: EnumProperty(
        name="Radius",
        default="AUTO",
        options=set(),
        update=settings_changed,
        description="How far a cluster reaches",
        items=[("AUTO", "Auto", "The smallest with the wanted overlap"), ("FIXED", "Fixed", "A radius in length")],
    )
    radius: FloatProperty(
        name="Radius",
        default=0.3,
        min=1e-6,
        soft_max=10.0,
        unit="LENGTH",
        options=set(),
        update=settings_changed,
        description="How far a cluster reaches from its centre",
    )
    overlap: FloatProperty(
        name="Overlap",
        default=5.0,
        min=1.0,
        soft_min=2.0,
        soft_max=12.0,
        max=64.0,
        options=set(),
        update=settings_changed,
        description="Clusters that a particle is in. More is smoother and dearer",
    )
    levels: IntProperty(
        name="Levels",
        default=1,
        min=1,
        max=MAX_LEVELS,
        options=set(),
        update=settings_changed,
        description="Resolutions that act together: with more, pushes travel through the body at "
        "once and large shapes spring back faster",
    )
    level_kind: EnumProperty(
        name="Kind",
        default="NESTED",
        options=set(),
        update=settings_changed,
        description="What coarse clusters are made of",
        items=[
            ("NESTED", "Nested", "Of finer clusters: nearly free"),
            ("INDEPENDENT", "Independent", "Of particles, each level by itself, as in the paper"),
        ],
    )
    reduction: IntProperty(
        name="Reduction",
        default=8,
        min=2,
        max=64,
        options=set(),
        update=settings_changed,
        description="How many times fewer clusters each coarser level has",
    )
    radius_multiplier: FloatProperty(
        name="Radius Factor",
        default=2.0,
        min=1.0,
        max=8.0,
        options=set(),
        update=settings_changed,
        description="How many times larger the clusters of each coarser level are",
    )
    weighting: EnumProperty(
        name="Weights",
        default="UNIFORM",
        options=set(),
        update=settings_changed,
        description="How much each level counts",
        items=[
            ("UNIFORM", "Uniform", "All the same"),
            ("LINEAR", "Linear", "In proportion to the level"),
            ("GAUSSIAN", "Gaussian", "A bell: mostly one end"),
            ("POLYNOMIAL", "Polynomial", "A power of the level"),
            ("MANUAL", "Manual", "As you set them"),
        ],
    )
    favour: EnumProperty(
        name="Favour",
        default="COARSE",
        options=set(),
        update=settings_changed,
        description="Which end of the levels counts more",
        items=[
            (
                "COARSE",
                "Coarse",
                "Large shapes: springs back as a whole, gives way around what "
                "holds or hits it. With Alpha as the stiffness it is firmer too",
            ),
            ("FINE", "Fine", "Details: moves in parts, resists dents. With Alpha as the stiffness it is softer too"),
        ],
    )
    weight_a: FloatProperty(
        name="A",
        default=-1.0,
        min=-1.0,
        max=1000.0,
        options=set(),
        update=settings_changed,
        description="Linear: weight of the first level. Polynomial: how fast weights rise. -1 takes "
        "the paper's values, .01 and 10",
    )
    weight_b: FloatProperty(
        name="B",
        default=-1.0,
        min=-1.0,
        max=16.0,
        options=set(),
        update=settings_changed,
        description="Polynomial: the power. -1 takes the paper's value, 2",
    )
    weights: FloatVectorProperty(
        name="Level Weights",
        size=MAX_LEVELS,
        default=(1.0,) * MAX_LEVELS,
        min=0.0,
        soft_max=1.0,
        options=set(),
        update=settings_changed,
        description="How much each level counts, finest first; only their proportion matters",
    )
    level_damping: FloatVectorProperty(
        name="Level Damping",
        size=MAX_LEVELS,
        default=(1.0,) * MAX_LEVELS,
        min=0.0,
        soft_max=4.0,
        options=set(),
        description="Factors on the damping of each level, finest first",
    )


class ParticleSettings(bpy.types.PropertyGroup):
    """How the mesh is filled with particles."""

    sampling: EnumProperty(
        name="Sampling",
        default="AUTO",
        options=set(),
        update=settings_changed,
        description="Where particles are put",
        items=[
            ("AUTO", "Auto", "In the volume, or on the surface where nothing is enclosed"),
            ("BLUE_NOISE", "Blue Noise", "Evenly scattered in the volume"),
            ("GRID", "Grid", "On a regular grid in the volume"),
            ("SURFACE", "Surface", "Scattered on the surface: sheets, cloth, shells"),
            ("VERTICES", "Vertices", "At the mesh's own vertices"),
        ],
    )
    mode: EnumProperty(
        name="Resolution",
        default="COUNT",
        options=set(),
        update=settings_changed,
        description="How fine the particles are",
        items=[("COUNT", "Count", "A number of particles"), ("SPACING", "Spacing", "A distance between particles")],
    )
    count: IntProperty(
        name="Count",
        default=3000,
        min=4,
        soft_max=100000,
        max=20000000,
        options=set(),
        update=settings_changed,
        description="Particles in the body: a thousand to judge the motion, ten thousand for a shot",
    )
    spacing: FloatProperty(
        name="Spacing",
        default=0.1,
        min=1e-6,
        soft_max=10.0,
        unit="LENGTH",
        options=set(),
        update=settings_changed,
        description="Distance between particles: about the finest detail that moves by itself",
    )
    thickness: FloatProperty(
        name="Thickness",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        unit="LENGTH",
        options=set(),
        update=settings_changed,
        description="How thick a sheet is: thinner ones are lighter, so that wind moves them more and "
        "other bodies push them aside. 0 takes the spacing",
    )
    shells: EnumProperty(
        name="Shells",
        default="TOUCHING",
        options=set(),
        update=settings_changed,
        description="Parts of the mesh that share no vertex: which of them hang together",
        items=[
            (
                "TOUCHING",
                "Join Touching",
                "Parts that overlap, lie inside each other, or are no "
                "farther apart than the particles are one. Others move "
                "on their own",
            ),
            (
                "APART",
                "Keep Apart",
                "Every part moves on its own, also where it overlaps others. "
                "Collisions (with itself) keep them from sinking in",
            ),
            ("TOGETHER", "Join All Near", "Whatever is near hangs together, also across gaps"),
        ],
    )
    seed: IntProperty(
        name="Seed",
        default=0,
        min=0,
        options=set(),
        update=settings_changed,
        description="Another number gives another, equally good scattering",
    )


class StartSettings(bpy.types.PropertyGroup):
    """How the body begins and what holds it."""

    velocity: FloatVectorProperty(
        name="Velocity",
        subtype="VELOCITY",
        size=3,
        options=set(),
        description="How fast the body flies at the first frame, in the world's directions",
    )
    angular_velocity: FloatVectorProperty(
        name="Spin",
        size=3,
        options=set(),
        subtype="EULER",
        unit="NONE",
        description="How fast the body turns at the first frame: the angle that it turns in a "
        "second, about the world's axes",
    )
    use_follow: BoolProperty(
        name="Follow Animation",
        default=False,
        options=set(),
        description="The body moves as it is animated until the release frame, and flies on from "
        "there with the speed that it then has",
    )
    release_frame: IntProperty(
        name="Release", default=20, options=set(), description="The last frame at which the body follows its animation"
    )
    use_pins: BoolProperty(
        name="Pin",
        default=False,
        options=set(),
        description="A vertex group is held to the object's own animation (armature, keys, parents)",
    )
    pin_group: StringProperty(
        name="Group", options=set(), description="Vertices of this group are pinned, as strongly as they are painted"
    )
    pin_mode: EnumProperty(
        name="Hold",
        default="EXACT",
        options=set(),
        description="How pinned parts are held",
        items=[
            ("EXACT", "Exactly", "Painted 1: exactly where the animation has it; less: pulled"),
            ("SPRING", "Softly", "Pulled by springs: it lags behind and swings"),
        ],
    )
    pin_frequency: FloatProperty(
        name="Pull",
        default=8.0,
        min=0.01,
        soft_max=60.0,
        max=10000.0,
        options=set(),
        description="How fast pins pull, in swings a second (Hz), where the group is painted 1. "
        "Keyframe Strength to change it",
    )
    use_presettle: BoolProperty(
        name="Pre-settle",
        default=True,
        options=set(),
        description="The body hangs from its pins in equilibrium at the first frame, as it was "
        "modelled, instead of sagging in the first frames: its rest shape takes up "
        "gravity. Not of sheets and cloth, which are to fall into folds",
    )
    pin_strength: FloatProperty(
        name="Strength",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="Factor on all pins of the body; keyframe it to let go",
    )


class ColliderSettings(bpy.types.PropertyGroup):
    """An object that bodies bounce off."""

    shape: EnumProperty(
        name="Shape",
        default="AUTO",
        options=set(),
        description="What bodies feel of this object; its size is the object's own",
        items=[
            ("AUTO", "Auto", "The simple shape that the mesh is, or the mesh itself if it is like none"),
            ("PLANE", "Plane", "An endless floor through the object's centre, facing its Z axis"),
            ("SPHERE", "Sphere", "A ball"),
            ("BOX", "Box", "A box"),
            ("CAPSULE", "Capsule", "A pill along the object's Z axis"),
            ("CYLINDER", "Cylinder", "A cylinder along the object's Z axis"),
            (
                "MESH",
                "Mesh",
                "The mesh as it is, rigid or deforming, and solid: nothing stays "
                "inside. It should be closed, and its faces must stay the same",
            ),
            (
                "SHELL",
                "Thin Shell",
                "The mesh as it is, rigid or deforming, open or closed, as a "
                "surface with two sides: bodies stay on theirs",
            ),
        ],
    )
    friction: FloatProperty(
        name="Friction",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        description="How much sliding is held back: 0 is ice, .5 wood, 1 and more rubber",
    )
    restitution: FloatProperty(
        name="Bounciness",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="How much of the speed into the surface comes back",
    )
    thickness: FloatProperty(
        name="Distance",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        unit="LENGTH",
        description="Distance that bodies keep from the surface",
    )
    inside_out: BoolProperty(
        name="Container",
        default=False,
        options=set(),
        description="Bodies are kept inside instead of outside; a mesh is then a thin shell",
    )
    use_running: BoolProperty(
        name="Moving Surface",
        default=False,
        description="The surface runs although the object stands still, and drags what touches it: a "
        "conveyor belt, a spinning drum",
    )
    surface_velocity: FloatVectorProperty(
        name="Velocity",
        size=3,
        subtype="VELOCITY",
        description="How fast the surface runs, along the object's own axes. What of it points into "
        "the surface does nothing",
    )
    surface_spin: FloatVectorProperty(
        name="Spin",
        size=3,
        subtype="EULER",
        unit="NONE",
        description="How fast the surface turns about the object's origin, around each of its own axes, in a second",
    )


def role_changed(self, context):
    """A body that is new gets settings that fit its size, however it got its role."""
    if self.role == "BODY" and not self.fitted_size:
        presets.fit(self.id_data)
    settings_changed(self, context)


class SwitchedModifier(bpy.types.PropertyGroup):
    """A modifier that a result had to switch off, and what it was. `name` is the modifier's."""

    show_viewport: BoolProperty(name="Viewport", options=set(), description="The modifier was on in the viewport")
    show_render: BoolProperty(name="Renders", options=set(), description="The modifier was on in renders")


class ResultSettings(bpy.types.PropertyGroup):
    """What was made of a bake on this object, so that it can be taken back."""

    kind: EnumProperty(
        name="Result",
        default="NONE",
        options=set(),
        description="How the object shows the bake",
        items=[
            ("NONE", "None", "Not at all, or as it was baked"),
            ("PC2", "Point Cache", "A Mesh Cache modifier plays a PC2 file"),
            ("MDD", "MDD", "A Mesh Cache modifier plays an MDD file"),
            ("SHAPE_KEYS", "Shape Keys", "Shape keys in the .blend file"),
            ("ALEMBIC", "Alembic", "A Mesh Sequence Cache modifier plays an Alembic file"),
            ("POINTS", "Particles", "The object is a body's particles"),
            ("DEBRIS", "Debris", "The object is points on a body's cracks"),
        ],
    )
    body: StringProperty(
        name="Body", options=set(), description="The soft body whose motion the mesh follows; none: its own"
    )
    mesh: PointerProperty(
        type=bpy.types.Mesh,
        name="Former Mesh",
        options=set(),
        description="The mesh that the object had before it got shape keys or cracks of a bake",
    )
    is_cut: BoolProperty(
        name="Has Cracks",
        default=False,
        options=set(),
        description="The object's mesh is cut along the cracks of a bake",
    )
    fragments: PointerProperty(
        type=bpy.types.Collection, name="Fragments", options=set(), description="The objects of the body's fragments"
    )
    was_rendered: BoolProperty(
        name="Was Rendered",
        default=True,
        options=set(),
        description="Whether the object was rendered before its fragments were objects",
    )
    values: PointerProperty(
        type=bpy.types.Object,
        name="Values",
        options=set(),
        description="The object whose vertices are values that change, as velocities and strains",
    )
    level: IntProperty(
        name="Level",
        min=0,
        max=MAX_LEVELS - 1,
        options=set(),
        description="The level whose clusters particles are numbered by",
    )
    switched: CollectionProperty(
        type=SwitchedModifier,
        name="Switched Modifiers",
        options=set(),
        description="Modifiers that are off while shape keys show the bake",
    )


class ObjectSettings(bpy.types.PropertyGroup):
    role: EnumProperty(
        name="Role",
        default="NONE",
        options=set(),
        update=role_changed,
        description="What the object is to Pliant",
        items=[
            ("NONE", "None", "Nothing"),
            ("BODY", "Soft Body", "Bends, swings and bounces"),
            ("COLLIDER", "Collider", "Soft bodies bounce off it"),
        ],
    )
    fitted_size: FloatProperty(
        name="Fitted Size",
        default=0.0,
        options={"HIDDEN"},
        unit="LENGTH",
        description="The size of the object that the settings were last fitted to; 0: never",
    )
    material: PointerProperty(type=MaterialSettings)
    clusters: PointerProperty(type=ClusterSettings)
    particles: PointerProperty(type=ParticleSettings)
    start: PointerProperty(type=StartSettings)
    paint: PointerProperty(type=PaintSettings)
    fracture: PointerProperty(type=fracture.FractureSettings)
    contacts: PointerProperty(type=contacts.BodyContacts)
    welds: CollectionProperty(
        type=contacts.WeldSettings, name="Welds", options=set(), description="What the object is stuck to"
    )
    collider: PointerProperty(type=ColliderSettings)
    result: PointerProperty(type=ResultSettings)


class SceneSettings(contacts.SceneContacts, bpy.types.PropertyGroup):
    override_settings: StringProperty(
        name="Override Settings",
        options={"HIDDEN"},
        description="Settings of library overrides that Blender cannot keep",
    )
    use_scene_frames: BoolProperty(
        name="Scene Frames", default=True, options=set(), description="Bake the frames that the scene plays"
    )
    frame_start: IntProperty(name="Start", default=1, options=set(), description="First frame of the bake")
    frame_end: IntProperty(name="End", default=250, options=set(), description="Last frame of the bake")
    use_gravity: BoolProperty(name="Gravity", default=True, options=set(), description="Bodies fall as the scene says")
    use_fields: BoolProperty(
        name="Force Fields",
        default=True,
        options=set(),
        description="Blender's wind, force, vortex, harmonic, turbulence and drag act on bodies",
    )
    substeps_mode: EnumProperty(
        name="Substeps",
        default="AUTO",
        options=set(),
        description="How often a frame is divided",
        items=[("AUTO", "Auto", "As often as the stiffest body needs"), ("FIXED", "Fixed", "A number of substeps")],
    )
    substeps: IntProperty(
        name="Substeps",
        default=4,
        min=1,
        soft_max=64,
        max=1000,
        options=set(),
        description="Steps for each frame. The look does not change with them where they are enough",
    )
    max_substeps: IntProperty(
        name="At Most",
        default=32,
        min=1,
        soft_max=128,
        max=1000,
        options=set(),
        description="Most substeps that Auto may take; a stiffer body is then softer than asked. Up "
        "to eight times as many for bodies that may break: too soft, they break under "
        "their own weight",
    )
    threads: IntProperty(
        name="Threads",
        default=0,
        min=0,
        max=1024,
        options=set(),
        description="Processor cores to use, 0 for all. Never changes the result",
    )
    folder: StringProperty(
        name="Cache Folder",
        subtype="DIR_PATH",
        options=compat.relative_path(),
        update=lambda self, _context: folders.typed(self.id_data),
        description="Where baked frames are kept; empty: a folder beside the .blend file",
    )
    compression: BoolProperty(
        name="Compress", default=True, options=set(), description="Smaller frames on disk, without loss"
    )
    checkpoint_every: IntProperty(
        name="Checkpoint",
        default=10,
        min=1,
        max=1000,
        options=set(),
        description="Frames between the points from which a bake can go on",
    )
    output: EnumProperty(
        name="Result",
        default="PC2",
        options=set(),
        description="What is made of the bake when it is done",
        items=RESULTS,
    )
    quick_factor: FloatProperty(
        name="Quick Bake",
        default=0.2,
        min=0.01,
        max=1.0,
        subtype="FACTOR",
        options=set(),
        description="Part of the particles that a quick bake uses to judge the motion",
    )
    preview_colours: BoolProperty(
        name="Colours",
        default=True,
        options=set(),
        update=settings_changed,
        description="Colour each vertex by the cluster that is nearest, in the colour attribute "
        '"Pliant Clusters"; it goes when the preview is switched off',
    )
    preview_colour_by: EnumProperty(
        name="Colour by",
        default="CLUSTERS",
        options=set(),
        update=settings_changed,
        description="What the colours tell",
        items=[
            ("CLUSTERS", "Clusters", "Each vertex by the cluster that is nearest"),
            ("CELLS", "Cells", "Each vertex by the cell of the pattern that it breaks along"),
            ("PIECE", "Pieces", "Each fragment of a body that breaks, as they are at this frame of the bake"),
            (
                "PLASTIC",
                "Plastic Strain",
                "How much the material has flowed up to this frame of "
                "the bake: from blue, not at all, to red, the most "
                "that it does",
            ),
            (
                "RENEWED",
                "New Clusters",
                "Grey where all clusters are those of the start; in "
                "colours where others were made since, up to this "
                "frame of the bake",
            ),
        ],
    )
    preview_particles: BoolProperty(
        name="Particles",
        default=True,
        options=set(),
        update=preview_redrawn,
        description="Draw the particles as points, in the colour of the cluster that is nearest",
    )
    preview_spheres: BoolProperty(
        name="Clusters",
        default=True,
        options=set(),
        update=preview_redrawn,
        description="Draw how far each cluster reaches, as circles",
    )
    preview_proxies: BoolProperty(
        name="Contact Shapes",
        default=False,
        options=set(),
        update=settings_changed,
        description="Draw the surface at which others touch the body, by the finest clusters that "
        "carry it: each is a ball, cut where that surface is",
    )
    preview_level: IntProperty(
        name="Level",
        default=0,
        min=0,
        max=MAX_LEVELS - 1,
        options=set(),
        update=settings_changed,
        description="Level whose clusters are shown; 0 is the finest",
    )
    preview_opacity: FloatProperty(
        name="Opacity",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=set(),
        update=preview_redrawn,
        description="How solid the preview is drawn",
    )


classes = (
    MaterialSettings,
    ClusterSettings,
    ParticleSettings,
    StartSettings,
    PaintSettings,
    fracture.FractureSettings,
    contacts.BodyContacts,
    contacts.WeldSettings,
    ColliderSettings,
    SwitchedModifier,
    ResultSettings,
    ObjectSettings,
    SceneSettings,
)


def number_text(value):
    """1,000 and 1e9: as people write them."""
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:,.6g}"
    digits, power = f"{value:.0e}".split("e")
    return f"{digits}e{int(power)}"


def tell_ranges(cls):
    """Ends the tooltip of every number with what it may be, so that none forgets it."""
    for prop in cls.__annotations__.values():
        keywords = getattr(prop, "keywords", None)
        if keywords is None or prop.function not in (FloatProperty, IntProperty, FloatVectorProperty):
            continue
        text, low, high = keywords.get("description", ""), keywords.get("min"), keywords.get("max")
        if low is None or not text or " Range: " in text:
            continue
        most = "and more" if high is None else f"to {number_text(high)}"
        keywords["description"] = f"{text}. Range: {number_text(low)} {most}"


def allow_overrides(cls):
    """Lets library overrides keep every setting: otherwise Blender forgets them with the next save."""
    for prop in cls.__annotations__.values():
        if getattr(prop, "keywords", None) is not None:
            lists = prop.function is CollectionProperty
            prop.keywords["override"] = OVERRIDABLE | {"USE_INSERTION"} if lists else OVERRIDABLE


OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
for _cls in (*classes, contacts.SceneContacts):
    tell_ranges(_cls)
    allow_overrides(_cls)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    bpy.types.Object.pliant = PointerProperty(type=ObjectSettings, name="Pliant", override=OVERRIDABLE)
    bpy.types.Scene.pliant = PointerProperty(type=SceneSettings, name="Pliant")


def unregister():
    del bpy.types.Scene.pliant
    del bpy.types.Object.pliant
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
