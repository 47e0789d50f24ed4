# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body's material, and of what is painted of it."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from .updates import settings_changed


class MaterialSettings(bpy.types.PropertyGroup):
    """How the body feels. What a body is made with cannot be keyframed: density, goals, the unit of
    damping, and which attributes are written."""

    preset: StringProperty(name="Preset", description="The preset that these settings were last taken from")
    stiffness_kind: EnumProperty(
        name="Stiffness as",
        default="FREQUENCY",
        update=settings_changed,
        description="How stiffness is given",
        items=[
            (
                "FREQUENCY",
                "Look",
                "How often the whole body swings in a second: the same look at every size and resolution",
            ),
            (
                "YOUNG",
                "Young's Modulus",
                "The material's own stiffness in pascals: larger bodies of it look softer, as they are",
            ),
            ("ALPHA", "Alpha", "The papers' alpha for each substep: depends on substeps, clusters and particles"),
        ],
    )
    frequency: FloatProperty(
        name="Frequency",
        default=8.0,
        min=0.01,
        soft_max=60.0,
        max=1000.0,
        update=settings_changed,
        description="Swings of the whole body in a second (Hz): low is soft and slow, high firm "
        "and quick. A body of 2 m: 5 is jelly, 10 rubber, 25 a tyre; smaller bodies "
        "need more to carry their weight",
    )
    young: FloatProperty(
        name="Young's Modulus",
        default=5e4,
        min=1.0,
        soft_min=1e3,
        soft_max=1e7,
        max=1e12,
        step=100000,
        precision=0,
        update=settings_changed,
        description="Stiffness in pascals: jelly 5,000, flesh 20,000, foam 50,000, rubber 1,000,000",
    )
    alpha: FloatProperty(
        name="Alpha",
        default=0.5,
        min=0.0,
        max=1.99,
        update=settings_changed,
        description="Part of the way to the goal that a particle takes in each substep",
    )
    damping: FloatProperty(
        name="Damping",
        default=2.0,
        min=0.0,
        soft_max=20.0,
        max=1000.0,
        description="How fast wobbling dies away: its energy falls by this rate per second, how far "
        "it swings by half of it. 0 never, 2 within some seconds, 20 almost at once. "
        "Falling and spinning are not slowed, slow rocking on the ground is",
    )
    damping_per_step: BoolProperty(
        name="Damping per Substep",
        default=False,
        options=set(),
        description="Damping is the papers' k_d, the part of a wobble that each substep takes away "
        "(0 to 1): depends on the substeps",
    )
    density: FloatProperty(
        name="Density",
        default=1000.0,
        min=1e-3,
        soft_max=10000.0,
        max=1e6,
        options=set(),
        description="Kilograms for each cubic metre: water 1,000, foam 50. Matters where bodies "
        "push each other and with Young's modulus",
    )
    use_strain_limit: BoolProperty(
        name="Limit Strain",
        default=False,
        description="Keep every part of the body near its shape however hard it is pulled",
    )
    strain_limit: FloatProperty(
        name="Largest Strain",
        default=0.3,
        min=0.001,
        soft_max=1.0,
        max=10.0,
        description="How far a part may leave the shape of its cluster, over the cluster's size. It is "
        "no limit of edges, which stretch about three times as much: .03 keeps nearly all "
        "edges of cloth within a tenth, but not where it is hit or hung up",
    )
    strain_relaxation: FloatProperty(
        name="Relaxation", default=0.3, min=0.01, max=1.0, description="How much of an excess each iteration takes away"
    )
    strain_iterations: IntProperty(
        name="Iterations", default=4, min=1, max=64, description="How often the strain is looked at in each substep"
    )
    goal: EnumProperty(
        name="Goals",
        default="RIGID",
        options=set(),
        update=settings_changed,
        description="What each cluster wants to be",
        items=[
            ("RIGID", "Rigid", "Its rest shape, turned: firm bodies"),
            ("LINEAR", "Linear", "Its rest shape, turned and stretched at constant volume: softer, squashier bodies"),
            ("QUADRATIC", "Quadratic", "Bent and twisted too: few clusters look like many"),
        ],
    )
    beta: FloatProperty(
        name="Give",
        default=0.5,
        min=0.0,
        max=0.95,
        description="How much of the stretching and bending the goals follow: 0 is rigid",
    )
    rotation: EnumProperty(
        name="Rotation",
        default="GRADIENT",
        description="Where a cluster's rotation is read from",
        items=[
            ("GRADIENT", "Gradient", "The deformation gradient, with the torque removed"),
            ("MOMENT", "Moment", "The moment matrix, as Mueller et al. 2005 have it"),
        ],
    )
    use_pressure: BoolProperty(
        name="Keep Volume",
        default=False,
        description="Air or water inside keeps the enclosed volume: balloons, cushions",
    )
    pressure: FloatProperty(
        name="Pressure",
        default=5000.0,
        min=0.0,
        soft_max=1e5,
        max=1e9,
        precision=0,
        step=10000,
        description="Pascals for each unit of volume lost: how hard the filling pushes back",
    )
    inflation: FloatProperty(
        name="Inflation",
        default=1.0,
        min=0.01,
        soft_max=4.0,
        max=100.0,
        description="The volume to keep over the mesh's own: more than 1 blows it up",
    )
    drag: FloatProperty(
        name="Air Drag",
        default=0.0,
        min=0.0,
        soft_max=5.0,
        max=1000.0,
        description="How fast the air stops every motion (rate per second): feathers 3, stones 0",
    )
    use_plasticity: BoolProperty(
        name="Plasticity",
        default=False,
        update=settings_changed,
        description="What is bent or pressed far enough keeps its new shape: clay, dough, metal. "
        "Not with quadratic goals, nor with independent levels",
    )
    yield_strain: FloatProperty(  # "yield" is a word of Python's: no driver could name it
        name="Yield",
        default=0.05,
        min=0.0,
        soft_max=0.5,
        max=100.0,
        precision=3,
        step=1,
        description="Strain (a part of the length) up to which it springs back; beyond, it stays "
        "bent: 0 flows under any load, .02 dents at a touch, .2 takes only hard blows",
    )
    flow: FloatProperty(
        name="Flow",
        default=20.0,
        min=0.0,
        soft_max=200.0,
        max=1e6,
        description="How fast it gives way to what is over the yield strain (rate per second): .5 "
        "creeps like taffy, 20 dents in a blow like clay, 200 at once like lead",
    )
    hardening: FloatProperty(
        name="Hardening",
        default=0.0,
        min=-1e6,
        soft_min=-1.0,
        soft_max=2.0,
        max=1e6,
        description="Yield strain gained for each unit of strain that stayed: more makes worked "
        "places tougher, as of metal; below 0 they get softer and give way further",
    )
    plastic_limit: FloatProperty(
        name="Limit",
        default=0.0,
        min=0.0,
        soft_max=3.0,
        max=1e6,
        description="Largest strain that may stay (a part of the length): there it springs back "
        "again, so that shapes stay recognisable; 0 is no limit",
    )
    use_recluster: BoolProperty(
        name="Renew Clusters",
        default=True,
        description="Clusters whose shape has flowed too far fade out, and new ones fade in, so "
        "that a body can be drawn and pressed without limit. Off, it stays cheaper, "
        "and stiffens or trembles where it has flowed far",
    )
    recluster_condition: FloatProperty(
        name="Beyond",
        default=2.0,
        min=1.01,
        soft_min=1.2,
        soft_max=4.0,
        max=1e6,
        description="How many times longer than wide a cube of a cluster may have flowed before "
        "the cluster is renewed: less follows flow more closely and costs more",
    )
    recluster_fade_in: FloatProperty(
        name="Fade In",
        default=0.4,
        min=0.0,
        soft_max=5.0,
        max=1e6,
        unit="TIME_ABSOLUTE",
        description="Seconds in which a new cluster comes: less follows flow sooner, more is calmer",
    )
    recluster_fade_out: FloatProperty(
        name="Fade Out",
        default=0.6,
        min=0.0,
        soft_max=5.0,
        max=1e6,
        unit="TIME_ABSOLUTE",
        description="Seconds in which an old cluster goes, once there are others for its particles",
    )
    recluster_least: IntProperty(
        name="Least",
        default=0,
        min=0,
        soft_max=10,
        max=100,
        description="A new cluster is made where a particle would be in fewer that stay. 0 keeps as "
        "many as there were at first, in the mean; Falkenstein 2017 has 1",
    )
    use_resample: BoolProperty(
        name="Resample",
        default=False,
        description="A particle whose surroundings have been drawn out to twice their length becomes "
        "two, so that threads stay full of particles, up to four times as many as at "
        "first; two that were pressed together to less than half become one. Takes "
        "longer the more there are; not together with Keep Volume or fracture",
    )
    use_strain_attribute: BoolProperty(
        name="Save Strain",
        default=False,
        options=set(),
        description='Meshes that show the bake have the attributes "plastic_strain", how much the '
        'material there has flowed, and "renewed", how much of it is in new clusters, '
        "at each frame, for materials and nodes. Takes as much room on disk as the motion",
    )
    flow_per_step: BoolProperty(
        name="Flow per Substep",
        default=False,
        description="Flow is the papers' nu, the part of the strain over the yield that each "
        "substep takes away (0 to 1): depends on the substeps",
    )


def _painted(name, what):
    return {
        f"{name}_group": StringProperty(
            name=what,
            options=set(),
            update=settings_changed,
            description=f"Vertex group that multiplies {what.lower()}; none: the same everywhere",
        ),
        f"{name}_zero": FloatProperty(
            name="At 0",
            default=0.1,
            min=0.0,
            soft_max=1.0,
            max=1000.0,
            options=set(),
            description=f"Factor on {what.lower()} where the group is painted 0 or not at all",
        ),
        f"{name}_one": FloatProperty(
            name="At 1",
            default=1.0,
            min=0.0,
            soft_max=10.0,
            max=1000.0,
            options=set(),
            description=f"Factor on {what.lower()} where the group is painted 1",
        ),
    }


class PaintSettings(bpy.types.PropertyGroup):
    """Vertex groups that multiply the material."""

    __annotations__ = {
        **_painted("stiffness", "Stiffness"),
        **_painted("damping", "Damping"),
        **_painted("strain_limit", "Largest Strain"),
        **_painted("density", "Density"),
        **_painted("yield", "Yield"),
        **_painted("flow", "Flow"),
        **_painted("hardening", "Hardening"),
        **_painted("toughness", "Toughness"),
    }
