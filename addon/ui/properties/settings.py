# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of objects and scenes: `Object.pliant` and `Scene.pliant`.

Only settings are stored here, never the state of a bake: a file saved during a bake opens as if
none had run. Names and meanings follow pliant.h; every tooltip says what the setting does to the
look.
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
    """Division of the body into overlapping clusters, and their levels."""

    algorithm: EnumProperty(
        name="Algorithm",
        default="FUZZY",
        options=set(),
        update=settings_changed,
        description="Algorithm that makes the clusters",
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
        description="How the weight of a particle in a cluster falls with distance",
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
        description="Parameter of the kernel; 0 takes its usual value",
    )
    count_mode: EnumProperty(
        name="Clusters",
        default="AUTO",
        options=set(),
        update=settings_changed,
        description="How the number of clusters is chosen",
        items=[
            ("AUTO", "Auto", "One cluster for about thirty particles"),
            ("COUNT", "Count", "A number of clusters"),
            ("SIZE", "Size", "Clusters of a given size: smaller ones show finer details"),
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
        description="Number of clusters of the finest level. More bend in finer detail and cost more",
    )
    size: FloatProperty(
        name="Size",
        default=0.3,
        min=1e-6,
        soft_max=10.0,
        unit="LENGTH",
        options=set(),
        update=settings_changed,
        description="Size of clusters: about the smallest part that bends by itself. A cluster has at"
        " least three particles, however small it is set",
    )
    max_iterations: IntProperty(
        name="Iterations",
        default=100,
        min=1,
        soft_max=1000,
        max=100000,
        options=set(),
        update=settings_changed,
        description="Most iterations of the clustering algorithm",
    )
    fixed: BoolProperty(
        name="Exact",
        default=False,
        options=set(),
        update=settings_changed,
        description="Use the given count and radius even if the clusters do not cover the body "
        "evenly, with a warning. Off, both grow until they do",
    )
    radius_mode: EnumProperty(
        name="Radius",
        default="AUTO",
        options=set(),
        update=settings_changed,
        description="How the radius of clusters is chosen",
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
        description="Distance that a cluster reaches from its centre",
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
        description="Clusters that each particle is in. More is smoother and costs more",
    )
    levels: IntProperty(
        name="Levels",
        default=1,
        min=1,
        max=MAX_LEVELS,
        options=set(),
        update=settings_changed,
        description="Levels of clusters, from fine to coarse: with more, forces travel through the "
        "body faster and large shapes spring back sooner",
    )
    level_kind: EnumProperty(
        name="Kind",
        default="NESTED",
        options=set(),
        update=settings_changed,
        description="What clusters of coarse levels are made of",
        items=[
            ("NESTED", "Nested", "Of finer clusters: nearly free"),
            ("INDEPENDENT", "Independent", "Of particles, each level by itself, as in Kaliappan and Bargteil 2020"),
        ],
    )
    reduction: IntProperty(
        name="Reduction",
        default=8,
        min=2,
        max=64,
        options=set(),
        update=settings_changed,
        description="Ratio of the number of clusters between one level and the next coarser one",
    )
    radius_multiplier: FloatProperty(
        name="Radius Factor",
        default=2.0,
        min=1.0,
        max=8.0,
        options=set(),
        update=settings_changed,
        description="Ratio of the size of clusters between one level and the next finer one",
    )
    weighting: EnumProperty(
        name="Weights",
        default="UNIFORM",
        options=set(),
        update=settings_changed,
        description="Weights of the levels",
        items=[
            ("UNIFORM", "Uniform", "The same weight for all levels"),
            ("LINEAR", "Linear", "In proportion to the level"),
            ("GAUSSIAN", "Gaussian", "A bell: mostly one end"),
            ("POLYNOMIAL", "Polynomial", "A power of the level"),
            ("MANUAL", "Manual", "Weights of your own"),
        ],
    )
    favour: EnumProperty(
        name="Favour",
        default="COARSE",
        options=set(),
        update=settings_changed,
        description="Which end of the levels weighs more",
        items=[
            (
                "COARSE",
                "Coarse",
                "Large shapes: the body springs back as a whole and gives way around what holds or "
                "hits it. With Alpha as the stiffness it is firmer too",
            ),
            (
                "FINE",
                "Fine",
                "Details: the body moves in parts and resists dents. With Alpha as the stiffness it is softer too",
            ),
        ],
    )
    weight_a: FloatProperty(
        name="A",
        default=-1.0,
        min=-1.0,
        max=1000.0,
        options=set(),
        update=settings_changed,
        description="Linear: weight of the first level. Polynomial: growth of the weights. -1 takes "
        "the values of the paper, .01 and 10",
    )
    weight_b: FloatProperty(
        name="B",
        default=-1.0,
        min=-1.0,
        max=16.0,
        options=set(),
        update=settings_changed,
        description="Polynomial: the exponent. -1 takes the value of the paper, 2",
    )
    weights: FloatVectorProperty(
        name="Level Weights",
        size=MAX_LEVELS,
        default=(1.0,) * MAX_LEVELS,
        min=0.0,
        soft_max=1.0,
        options=set(),
        update=settings_changed,
        description="Weight of each level, finest first; only their ratios matter",
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
    """How the mesh is sampled with particles."""

    sampling: EnumProperty(
        name="Sampling",
        default="AUTO",
        options=set(),
        update=settings_changed,
        description="Where particles are placed",
        items=[
            ("AUTO", "Auto", "In the volume, or on the surface if the mesh encloses no volume"),
            ("BLUE_NOISE", "Blue Noise", "Evenly scattered in the volume (Poisson disk)"),
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
        description="How the number of particles is chosen",
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
        description="Number of particles: a thousand to judge the motion, ten thousand for a shot",
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
        description="Thickness of a sheet: thinner ones are lighter, so that wind and other bodies "
        "move them more. 0 takes the spacing",
    )
    shells: EnumProperty(
        name="Shells",
        default="TOUCHING",
        options=set(),
        update=settings_changed,
        description="Which parts of the mesh that share no vertex (shells) are joined",
        items=[
            (
                "TOUCHING",
                "Join Touching",
                "Join parts that overlap, lie inside each other, or are no farther apart than the "
                "particles. Others move on their own",
            ),
            (
                "APART",
                "Keep Apart",
                "Every part moves on its own, even where it overlaps others. Collisions (with itself) keep them apart",
            ),
            ("TOGETHER", "Join All Near", "Join all parts that are near each other, across gaps too"),
        ],
    )
    seed: IntProperty(
        name="Seed",
        default=0,
        min=0,
        options=set(),
        update=settings_changed,
        description="Seed of the sampling: another number gives another, equally good one",
    )


class StartSettings(bpy.types.PropertyGroup):
    """Initial motion of the body, and its pins."""

    velocity: FloatVectorProperty(
        name="Velocity",
        subtype="VELOCITY",
        size=3,
        options=set(),
        description="Velocity of the body at the first frame, in world space",
    )
    angular_velocity: FloatVectorProperty(
        name="Spin",
        size=3,
        options=set(),
        subtype="EULER",
        unit="NONE",
        description="Angular velocity of the body at the first frame, about the world axes: the angle"
        " that it turns in a second",
    )
    use_follow: BoolProperty(
        name="Follow Animation",
        default=False,
        options=set(),
        description="The body follows its animation until the release frame and then flies on with "
        "the velocity that it has",
    )
    release_frame: IntProperty(
        name="Release", default=20, options=set(), description="The last frame at which the body follows its animation"
    )
    use_pins: BoolProperty(
        name="Pin",
        default=False,
        options=set(),
        description="Hold a vertex group to the object's own animation (armature, keyframes, parents)",
    )
    pin_group: StringProperty(
        name="Group", options=set(), description="Vertex group of pinned vertices; the painted weight is the strength"
    )
    pin_mode: EnumProperty(
        name="Hold",
        default="EXACT",
        options=set(),
        description="How pinned parts are held",
        items=[
            ("EXACT", "Exactly", "Painted 1: exactly at the animated position; less: pulled towards it"),
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
        description="Frequency of the pin springs (Hz) where the group is painted 1. Keyframe Strength to change it",
    )
    use_presettle: BoolProperty(
        name="Pre-settle",
        default=True,
        options=set(),
        description="Start in equilibrium: the body hangs from its pins at the first frame as it was "
        "modelled, instead of sagging, because its rest shape compensates gravity. Not "
        "for sheets and cloth, which should fall into folds",
    )
    pin_strength: FloatProperty(
        name="Strength",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="Factor on all pins of the body; keyframe it to release the body",
    )


class ColliderSettings(bpy.types.PropertyGroup):
    """An object that bodies collide with."""

    shape: EnumProperty(
        name="Shape",
        default="AUTO",
        options=set(),
        description="Shape of the object for collision; its size is the object's own",
        items=[
            ("AUTO", "Auto", "The simple shape that fits the mesh, or the mesh itself if none fits"),
            ("PLANE", "Plane", "An endless floor through the object's centre, facing its Z axis"),
            ("SPHERE", "Sphere", "A ball"),
            ("BOX", "Box", "A box"),
            ("CAPSULE", "Capsule", "A pill along the object's Z axis"),
            ("CYLINDER", "Cylinder", "A cylinder along the object's Z axis"),
            (
                "MESH",
                "Mesh",
                "The mesh, rigid or deforming, as a solid: bodies are pushed out of it. It should be "
                "closed, and its faces must not change",
            ),
            (
                "SHELL",
                "Thin Shell",
                "The mesh, rigid or deforming, open or closed, as a surface with two sides: bodies stay on their side",
            ),
        ],
    )
    friction: FloatProperty(
        name="Friction",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        description="Friction coefficient (Coulomb): 0 is ice, .5 wood, 1 and more rubber",
    )
    restitution: FloatProperty(
        name="Bounciness",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="Restitution: the share of the approach speed that a contact returns",
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
        description="Keep bodies inside instead of outside; a mesh is then a thin shell",
    )
    use_running: BoolProperty(
        name="Moving Surface",
        default=False,
        description="The surface moves although the object stands still, and drags what touches it: a"
        " conveyor belt, a spinning drum",
    )
    surface_velocity: FloatVectorProperty(
        name="Velocity",
        size=3,
        subtype="VELOCITY",
        description="Velocity of the surface along the object's own axes. Its part along the normal has no effect",
    )
    surface_spin: FloatVectorProperty(
        name="Spin",
        size=3,
        subtype="EULER",
        unit="NONE",
        description="Angular velocity of the surface about the object's origin, around each of its "
        "own axes: the angle that it turns in a second",
    )


def role_changed(self, context):
    """Fits the settings to the object's size when an object becomes a body for the first time,
    whoever sets its role."""
    if self.role == "BODY" and not self.fitted_size:
        presets.fit(self.id_data)
    settings_changed(self, context)


class SwitchedModifier(bpy.types.PropertyGroup):
    """A modifier that a result switched off, with its former state. `name` is the modifier's."""

    show_viewport: BoolProperty(name="Viewport", options=set(), description="The modifier was on in the viewport")
    show_render: BoolProperty(name="Renders", options=set(), description="The modifier was on in renders")


class ResultSettings(bpy.types.PropertyGroup):
    """The result shown on this object, with what is needed to remove it."""

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
        name="Body", options=set(), description="Soft body whose motion the mesh follows; none: its own"
    )
    mesh: PointerProperty(
        type=bpy.types.Mesh,
        name="Former Mesh",
        options=set(),
        description="The mesh that the object had before it got shape keys or cracks from a bake",
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
        description="The object was rendered before it was replaced by its fragments",
    )
    values: PointerProperty(
        type=bpy.types.Object,
        name="Values",
        options=set(),
        description="The object whose vertex positions hold animated values, as velocities and strains",
    )
    level: IntProperty(
        name="Level",
        min=0,
        max=MAX_LEVELS - 1,
        options=set(),
        description="Level of clusters by which particles are numbered",
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
        description="Role of the object in the simulation",
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
        description="Object size that the settings were last fitted to; 0: never",
    )
    material: PointerProperty(type=MaterialSettings)
    clusters: PointerProperty(type=ClusterSettings)
    particles: PointerProperty(type=ParticleSettings)
    start: PointerProperty(type=StartSettings)
    paint: PointerProperty(type=PaintSettings)
    fracture: PointerProperty(type=fracture.FractureSettings)
    contacts: PointerProperty(type=contacts.BodyContacts)
    welds: CollectionProperty(
        type=contacts.WeldSettings, name="Welds", options=set(), description="What the object is welded to"
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
        description="Blender's wind, force, vortex, harmonic, turbulence and drag fields act on bodies",
    )
    substeps_mode: EnumProperty(
        name="Substeps",
        default="AUTO",
        options=set(),
        description="How many substeps a frame has",
        items=[("AUTO", "Auto", "As often as the stiffest body needs"), ("FIXED", "Fixed", "A number of substeps")],
    )
    substeps: IntProperty(
        name="Substeps",
        default=4,
        min=1,
        soft_max=64,
        max=1000,
        options=set(),
        description="Substeps of each frame. Above a sufficient number the look does not depend on it",
    )
    max_substeps: IntProperty(
        name="At Most",
        default=32,
        min=1,
        soft_max=128,
        max=1000,
        options=set(),
        description="Most substeps that Auto may take; a stiffer body becomes softer than set. Bodies"
        " that may break take up to eight times as many: too soft, they would break under"
        " their own weight",
    )
    threads: IntProperty(
        name="Threads",
        default=0,
        min=0,
        max=1024,
        options=set(),
        description="Threads of the simulation; 0: one for each processor core. Does not change the result",
    )
    folder: StringProperty(
        name="Cache Folder",
        subtype="DIR_PATH",
        options=compat.relative_path(),
        update=lambda self, _context: folders.typed(self.id_data),
        description="Folder of baked frames; empty: a folder beside the .blend file",
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
        description="Frames between checkpoints, from which a bake can be resumed",
    )
    output: EnumProperty(
        name="Result",
        default="PC2",
        options=set(),
        description="Result that is made when the bake is finished",
        items=RESULTS,
    )
    quick_factor: FloatProperty(
        name="Quick Bake",
        default=0.2,
        min=0.01,
        max=1.0,
        subtype="FACTOR",
        options=set(),
        description="Share of the particles that Quick Bake uses, to judge the motion",
    )
    preview_colours: BoolProperty(
        name="Colours",
        default=True,
        options=set(),
        update=settings_changed,
        description='Colour each vertex by its nearest cluster, in the colour attribute "Pliant '
        'Clusters"; it is removed when the preview is switched off',
    )
    preview_colour_by: EnumProperty(
        name="Colour by",
        default="CLUSTERS",
        options=set(),
        update=settings_changed,
        description="What the colours show",
        items=[
            ("CLUSTERS", "Clusters", "The cluster nearest to each vertex"),
            ("CELLS", "Cells", "The Voronoi cell of each vertex, if the body breaks along cells"),
            ("PIECE", "Pieces", "The fragments of a body that breaks, at the current frame of the bake"),
            (
                "PLASTIC",
                "Plastic Strain",
                "Plastic strain of the material at the current frame of the bake: from blue, none, to red, the largest",
            ),
            (
                "RENEWED",
                "New Clusters",
                "Clusters that were replaced up to the current frame of the bake are in colours, "
                "those of the start in grey",
            ),
        ],
    )
    preview_particles: BoolProperty(
        name="Particles",
        default=True,
        options=set(),
        update=preview_redrawn,
        description="Draw the particles as points, in the colour of the nearest cluster",
    )
    preview_spheres: BoolProperty(
        name="Clusters",
        default=True,
        options=set(),
        update=preview_redrawn,
        description="Draw the radius of each cluster as a circle",
    )
    preview_proxies: BoolProperty(
        name="Contact Shapes",
        default=False,
        options=set(),
        update=settings_changed,
        description="Draw the surface at which others touch the body, by its finest clusters: each is"
        " a ball, cut at that surface",
    )
    preview_level: IntProperty(
        name="Level",
        default=0,
        min=0,
        max=MAX_LEVELS - 1,
        options=set(),
        update=settings_changed,
        description="Level of the clusters that are shown; 0 is the finest",
    )
    preview_opacity: FloatProperty(
        name="Opacity",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=set(),
        update=preview_redrawn,
        description="Opacity of the preview",
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
    """Appends the range of every number to its tooltip."""
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
    """Makes every setting overridable: otherwise Blender does not save it in library overrides."""
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
