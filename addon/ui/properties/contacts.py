# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of contacts between soft bodies, of welds and of sleep."""

import bpy
from bpy.props import BoolProperty, BoolVectorProperty, FloatProperty, IntProperty, PointerProperty

from ...blender.settings import CONTACT_GROUPS


class BodyContacts(bpy.types.PropertyGroup):
    """What a body collides with."""

    use_others: BoolProperty(
        name="Other Bodies",
        default=True,
        description="The body bounces off other soft bodies that share a group with it; otherwise "
        "they pass through each other",
    )
    use_self: BoolProperty(
        name="Itself",
        default=False,
        description="Parts of the body that are apart keep out of each other: for tails, ears and "
        "sheets that fold over. Takes more time",
    )
    groups: BoolVectorProperty(
        name="Groups",
        size=CONTACT_GROUPS,
        subtype="LAYER",
        default=(True,) + (False,) * (CONTACT_GROUPS - 1),
        description="Bodies that share a group collide. A body may be in several; in none, the "
        "body collides with no other",
    )
    use_surface: BoolProperty(
        name="Own Surface",
        default=False,
        description="The body has a friction, a bounciness and a distance of its own instead of the "
        "scene's. Of two that touch, friction is the geometric mean (slippery on "
        "anything if one is), bounciness and distance are the larger",
    )
    friction: FloatProperty(
        name="Friction",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        description="How much the body is held back when it slides over others and over colliders: "
        "0 is wet soap, .5 skin, 1 and more rubber",
    )
    restitution: FloatProperty(
        name="Bounciness",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="How much of the speed at which it meets others and colliders comes back at "
        "once. Soft bodies bounce by themselves: this adds to it",
    )
    thickness: FloatProperty(
        name="Distance",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        max=1e6,
        unit="LENGTH",
        description="Distance that the body keeps from other bodies and from itself",
    )


def can_be_welded(_self, obj):
    return obj.pliant.role in ("BODY", "COLLIDER")


class WeldSettings(bpy.types.PropertyGroup):
    """One thing that the object is stuck to."""

    object: PointerProperty(
        type=bpy.types.Object,
        name="Object",
        poll=can_be_welded,
        options=set(),
        description="Soft body or collider that it sticks to where they touch at the first frame of "
        "the bake; from then on they go together",
    )
    strength: FloatProperty(
        name="Strength",
        default=0.0,
        min=0.0,
        soft_max=1e6,
        max=1e12,
        options=set(),
        description="Pascals that the weld bears before it tears off: a cubic metre of water "
        "hanging on a square metre needs about 10,000. 0 never tears",
    )
    distance: FloatProperty(
        name="Reach",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        max=1e6,
        unit="LENGTH",
        options=set(),
        description="How far apart they may be to be stuck. 0: the distance of the body's particles from each other",
    )


class SceneContacts:
    """Part of the scene's settings: how bodies collide."""

    use_contacts: BoolProperty(
        name="Bodies Collide",
        default=True,
        description="Soft bodies bounce off each other, and off themselves where they say so. "
        "Without, bodies pass through each other",
    )
    contact_friction: FloatProperty(
        name="Friction",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        description="How much bodies hold each other back when they slide: 0 is wet soap, .5 skin, 1 and more rubber",
    )
    contact_restitution: FloatProperty(
        name="Bounciness",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="How much of the speed at which bodies meet comes back at once. Soft bodies "
        "bounce by themselves: this adds to it",
    )
    contact_thickness: FloatProperty(
        name="Distance",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        max=1e6,
        unit="LENGTH",
        description="Distance that bodies keep from each other, and parts of a body from its other parts",
    )
    contact_stiffness: FloatProperty(
        name="Firmness",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="Part of the overlap that a substep would make which is removed: 1 is solid, less "
        "lets bodies sink into each other, 0 lets them pass through. Iterations do not "
        "change it",
    )
    contact_iterations: IntProperty(
        name="Iterations",
        default=8,
        min=1,
        soft_max=32,
        max=1000,
        description="How often contacts are solved in each substep: more holds piles and quick hits "
        "better, and takes longer",
    )
    use_sleep: BoolProperty(
        name="Sleep",
        default=True,
        description="Bodies that have settled stop, and cost next to nothing until something "
        "touches them or a collider comes near",
    )
    sleep_speed: FloatProperty(
        name="Speed",
        default=0.005,
        min=1e-6,
        soft_max=1.0,
        max=1e6,
        unit="VELOCITY",
        description="A body falls asleep when no part of it is faster than this, together with all "
        "that it touches; the pieces of one that broke do so one by one",
    )
    sleep_seconds: FloatProperty(
        name="After",
        default=0.5,
        min=0.0,
        soft_max=5.0,
        max=1e6,
        unit="TIME_ABSOLUTE",
        description="Seconds for which it must have been so slow",
    )
