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
        description="The body collides with other soft bodies that share a group with it. Off, they "
        "pass through each other",
    )
    use_self: BoolProperty(
        name="Itself",
        default=False,
        description="Parts of the body collide with each other: for tails, ears and sheets that fold "
        "over. Takes more time",
    )
    groups: BoolVectorProperty(
        name="Groups",
        size=CONTACT_GROUPS,
        subtype="LAYER",
        default=(True,) + (False,) * (CONTACT_GROUPS - 1),
        description="Bodies collide if they share a group. A body may be in several groups; a body in"
        " no group collides with no other body",
    )
    use_surface: BoolProperty(
        name="Own Surface",
        default=False,
        description="Use a friction, a bounciness and a distance for this body instead of the "
        "scene's. Between two bodies the friction is the geometric mean (low if one of "
        "them is slippery); the bounciness and the distance are the larger ones",
    )
    friction: FloatProperty(
        name="Friction",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        description="Friction coefficient (Coulomb) against other bodies and colliders: 0 is wet "
        "soap, .5 skin, 1 and more rubber",
    )
    restitution: FloatProperty(
        name="Bounciness",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="Restitution: the share of the approach speed that a contact returns at once. "
        "Soft bodies also bounce by their elasticity: this adds to it",
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
    """One weld of the object."""

    object: PointerProperty(
        type=bpy.types.Object,
        name="Object",
        poll=can_be_welded,
        options=set(),
        description="Soft body or collider to which the object is welded where they touch at the "
        "first frame of the bake",
    )
    strength: FloatProperty(
        name="Strength",
        default=0.0,
        min=0.0,
        soft_max=1e6,
        max=1e12,
        options=set(),
        description="Stress in pascals at which the weld breaks: a cubic metre of water hanging on a "
        "square metre makes about 10,000. 0 never breaks",
    )
    distance: FloatProperty(
        name="Reach",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        max=1e6,
        unit="LENGTH",
        options=set(),
        description="Largest gap that is welded. 0: the distance of the body's particles from each other",
    )


class SceneContacts:
    """Collision settings of the scene."""

    use_contacts: BoolProperty(
        name="Bodies Collide",
        default=True,
        description="Soft bodies collide with each other, and with themselves where Itself is on. "
        "Off, bodies pass through each other",
    )
    contact_friction: FloatProperty(
        name="Friction",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        description="Friction coefficient (Coulomb) between bodies: 0 is wet soap, .5 skin, 1 and more rubber",
    )
    contact_restitution: FloatProperty(
        name="Bounciness",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="Restitution: the share of the approach speed that a contact returns at once. "
        "Soft bodies also bounce by their elasticity: this adds to it",
    )
    contact_thickness: FloatProperty(
        name="Distance",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        max=1e6,
        unit="LENGTH",
        description="Distance that bodies keep from each other, and that parts of a body keep from its other parts",
    )
    contact_stiffness: FloatProperty(
        name="Firmness",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        description="Share of the overlap that a substep removes: 1 is solid, less lets bodies sink "
        "into each other, 0 lets them pass through. Does not depend on Iterations",
    )
    contact_iterations: IntProperty(
        name="Iterations",
        default=8,
        min=1,
        soft_max=32,
        max=1000,
        description="Iterations of the contact solver in each substep: more is better for piles and "
        "quick hits, and takes longer",
    )
    use_sleep: BoolProperty(
        name="Sleep",
        default=True,
        description="Bodies at rest are put to sleep: they stop, and cost almost no time until "
        "something touches them or a collider comes near",
    )
    sleep_speed: FloatProperty(
        name="Speed",
        default=0.005,
        min=1e-6,
        soft_max=1.0,
        max=1e6,
        unit="VELOCITY",
        description="A body falls asleep when no part of it is faster than this, together with all "
        "bodies that it touches. Pieces of a broken body fall asleep one by one",
    )
    sleep_seconds: FloatProperty(
        name="After",
        default=0.5,
        min=0.0,
        soft_max=5.0,
        max=1e6,
        unit="TIME_ABSOLUTE",
        description="Seconds for which a body must be slower than Speed before it falls asleep",
    )
