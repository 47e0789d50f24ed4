# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body's material, and the vertex groups that multiply them."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from .updates import settings_changed


class MaterialSettings(bpy.types.PropertyGroup):
    """Material of a body. Density, goals, the unit of damping and the attributes to write cannot be
    keyframed."""

    preset: StringProperty(name="Preset", description="The preset that these settings were last taken from")
    stiffness_kind: EnumProperty(
        name="Stiffness as",
        default="FREQUENCY",
        update=settings_changed,
        description="Unit of the stiffness",
        items=[
            ("FREQUENCY", "Look", "Frequency of the whole body, in hertz: the same look at every size and resolution"),
            (
                "YOUNG",
                "Young's Modulus",
                "Young's modulus of the material, in pascals: larger bodies look softer, as in reality",
            ),
            ("ALPHA", "Alpha", "Alpha of the papers, for each substep: depends on substeps, clusters and particles"),
        ],
    )
    frequency: FloatProperty(
        name="Frequency",
        default=8.0,
        min=0.01,
        soft_max=60.0,
        max=1000.0,
        update=settings_changed,
        description="Frequency at which the whole body swings (Hz): low is soft and slow, high is "
        "firm and quick. A body of 2 m: 5 is jelly, 10 rubber, 25 a tyre; smaller bodies "
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
        description="Young's modulus in pascals: jelly 5,000, flesh 20,000, foam 50,000, rubber 1,000,000",
    )
    alpha: FloatProperty(
        name="Alpha",
        default=0.5,
        min=0.0,
        max=1.99,
        update=settings_changed,
        description="Share of the way to its goal that a particle moves in each substep",
    )
    damping: FloatProperty(
        name="Damping",
        default=2.0,
        min=0.0,
        soft_max=20.0,
        max=1000.0,
        description="Rate at which vibrations decay: their energy falls by this rate per second, "
        "their amplitude by half of it. 0 never, 2 within some seconds, 20 almost at "
        "once. Falling and spinning are not damped, slow rocking on the ground is",
    )
    damping_per_step: BoolProperty(
        name="Damping per Substep",
        default=False,
        options=set(),
        description="Damping is k_d of the papers, the share of a vibration that each substep removes"
        " (0 to 1): depends on the substeps",
    )
    density: FloatProperty(
        name="Density",
        default=1000.0,
        min=1e-3,
        soft_max=10000.0,
        max=1e6,
        options=set(),
        description="Kilograms for each cubic metre: water 1,000, foam 50. Matters in contacts "
        "between bodies and with Young's modulus",
    )
    use_strain_limit: BoolProperty(
        name="Limit Strain",
        default=False,
        description="Limit how far every part of the body is deformed, however hard it is pulled",
    )
    strain_limit: FloatProperty(
        name="Largest Strain",
        default=0.3,
        min=0.001,
        soft_max=1.0,
        max=10.0,
        description="Largest distance of a particle from the shape of its cluster, relative to the "
        "cluster's size. It does not limit edges, which stretch about three times as "
        "much: .03 keeps nearly all edges of cloth within a tenth, but not where it is "
        "hit or hung up",
    )
    strain_relaxation: FloatProperty(
        name="Relaxation",
        default=0.3,
        min=0.01,
        max=1.0,
        description="Share of the excess strain that each iteration removes",
    )
    strain_iterations: IntProperty(
        name="Iterations", default=4, min=1, max=64, description="Iterations of strain limiting in each substep"
    )
    goal: EnumProperty(
        name="Goals",
        default="RIGID",
        options=set(),
        update=settings_changed,
        description="Shape that each cluster is pulled to",
        items=[
            ("RIGID", "Rigid", "The rotated rest shape: firm bodies"),
            ("LINEAR", "Linear", "The rest shape, rotated and stretched at constant volume: softer, squashier bodies"),
            ("QUADRATIC", "Quadratic", "Bent and twisted as well: few clusters look like many"),
        ],
    )
    beta: FloatProperty(
        name="Give",
        default=0.5,
        min=0.0,
        max=0.95,
        description="Share of the stretching and bending that goals follow (beta): 0 is rigid",
    )
    rotation: EnumProperty(
        name="Rotation",
        default="GRADIENT",
        description="Matrix that a cluster's rotation is taken from",
        items=[
            ("GRADIENT", "Gradient", "The deformation gradient, with the torque removed"),
            ("MOMENT", "Moment", "The moment matrix, as in Mueller et al. 2005"),
        ],
    )
    use_pressure: BoolProperty(
        name="Keep Volume",
        default=False,
        description="Keep the enclosed volume, as air or water inside does: balloons, cushions",
    )
    pressure: FloatProperty(
        name="Pressure",
        default=5000.0,
        min=0.0,
        soft_max=1e5,
        max=1e9,
        precision=0,
        step=10000,
        description="Bulk stiffness of the filling: pressure in pascals for each unit of volume lost",
    )
    inflation: FloatProperty(
        name="Inflation",
        default=1.0,
        min=0.01,
        soft_max=4.0,
        max=100.0,
        description="Volume to keep, relative to the volume of the mesh: more than 1 inflates it",
    )
    drag: FloatProperty(
        name="Air Drag",
        default=0.0,
        min=0.0,
        soft_max=5.0,
        max=1000.0,
        description="Drag of the air on every motion (rate per second): feathers 3, stones 0",
    )
    use_plasticity: BoolProperty(
        name="Plasticity",
        default=False,
        update=settings_changed,
        description="Plastic flow: what is bent or pressed beyond the yield strain keeps its new "
        "shape, as clay, dough and metal do. Not with quadratic goals, nor with "
        "independent levels",
    )
    yield_strain: FloatProperty(  # "yield" is a Python keyword: no driver could name it
        name="Yield",
        default=0.05,
        min=0.0,
        soft_max=0.5,
        max=100.0,
        precision=3,
        step=1,
        description="Strain (a part of the length) up to which the body springs back; beyond it the "
        "deformation stays: 0 flows under any load, .02 dents at a touch, .2 only at hard"
        " blows",
    )
    flow: FloatProperty(
        name="Flow",
        default=20.0,
        min=0.0,
        soft_max=200.0,
        max=1e6,
        description="Rate at which strain beyond the yield strain becomes permanent (per second): .5 "
        "creeps like taffy, 20 dents in a blow like clay, 200 at once like lead",
    )
    hardening: FloatProperty(
        name="Hardening",
        default=0.0,
        min=-1e6,
        soft_min=-1.0,
        soft_max=2.0,
        max=1e6,
        description="Work hardening: yield strain gained for each unit of plastic strain. More makes "
        "deformed places tougher, as in metal; below 0 they get softer and yield further",
    )
    plastic_limit: FloatProperty(
        name="Limit",
        default=0.0,
        min=0.0,
        soft_max=3.0,
        max=1e6,
        description="Largest plastic strain (a part of the length): beyond it the body springs back "
        "again, so that shapes stay recognisable; 0 is no limit",
    )
    use_recluster: BoolProperty(
        name="Renew Clusters",
        default=True,
        description="Replace clusters that have flowed too far: they fade out and new ones fade in, "
        "so that a body can be drawn out and pressed without limit. Off is cheaper, but a"
        " body that has flowed far stiffens or trembles",
    )
    recluster_condition: FloatProperty(
        name="Beyond",
        default=2.0,
        min=1.01,
        soft_min=1.2,
        soft_max=4.0,
        max=1e6,
        description="Plastic stretch of a cluster at which it is replaced, as the ratio of its "
        "longest to its shortest side: less follows flow more closely and costs more",
    )
    recluster_fade_in: FloatProperty(
        name="Fade In",
        default=0.4,
        min=0.0,
        soft_max=5.0,
        max=1e6,
        unit="TIME_ABSOLUTE",
        description="Seconds in which a new cluster fades in: less follows flow sooner, more is calmer",
    )
    recluster_fade_out: FloatProperty(
        name="Fade Out",
        default=0.6,
        min=0.0,
        soft_max=5.0,
        max=1e6,
        unit="TIME_ABSOLUTE",
        description="Seconds in which a replaced cluster fades out, once others have its particles",
    )
    recluster_least: IntProperty(
        name="Least",
        default=0,
        min=0,
        soft_max=10,
        max=100,
        description="Least number of clusters for a particle, without those that fade out; below it a"
        " new cluster is made. 0 keeps the initial mean; Falkenstein 2017 uses 1",
    )
    use_resample: BoolProperty(
        name="Resample",
        default=False,
        description="Divide particles where the material is drawn out to twice its length, so that "
        "threads stay full of particles (up to four times as many as at first), and merge"
        " pairs that are pressed to less than half. Takes longer the more particles there"
        " are; not together with Keep Volume or Fracture",
    )
    use_strain_attribute: BoolProperty(
        name="Save Strain",
        default=False,
        options=set(),
        description='Write the attributes "plastic_strain" (how much the material has flowed) and '
        '"renewed" (its share in new clusters) to the mesh at each frame, for materials '
        "and nodes. Takes as much room on disk as the motion",
    )
    flow_per_step: BoolProperty(
        name="Flow per Substep",
        default=False,
        description="Flow is nu of the papers, the share of the strain beyond the yield strain that "
        "each substep makes permanent (0 to 1): depends on the substeps",
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
    """Vertex groups that multiply material settings."""

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
