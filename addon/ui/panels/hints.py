# SPDX-License-Identifier: GPL-3.0-or-later
"""Hints: likely causes of a disappointing bake, shown before it."""

from typing import NamedTuple

import bpy
from mathutils import Vector

from ...blender import fitting, modifiers, settings
from ...blender.roles import count_bodies
from .. import drawing
from ..operators.floor import PLIANT_OT_add_floor

NO_FLOOR, NO_COLLISION = "Nothing to land on", "Bodies do not collide"
POPOVER_LETTERS = 52  # characters in a line of the hints


def falls_for_ever(scene):
    """Whether gravity acts on a body that neither pins nor colliders hold."""
    roles = [obj.pliant.role for obj in scene.objects]
    return (
        "COLLIDER" not in roles
        and any(settings.gravity(scene))
        and any(obj.pliant.role == "BODY" and not obj.pliant.start.use_pins for obj in scene.objects)
    )


class Hint(NamedTuple):
    """One hint."""

    title: str  # on a button
    text: str  # without its full stop


def of(obj):
    """Hints for one soft body."""
    found = []
    if fitting.is_coarse(obj):
        found.append(Hint("Long edges", "Its edges are too long to bend with it: subdivide the mesh"))
    left_out = modifiers.left_out(obj)
    if left_out:
        found.append(Hint("Modifiers left out", f"Simulated without {left_out}: apply it if it is part of the body"))
    rig = modifiers.late_rig(obj)
    if rig:
        found.append(Hint("Late rig", rig[0].upper() + rig[1:]))
    material = obj.pliant.material
    if material.use_pressure:
        why = None
        if obj.pliant.fracture.use_fracture:
            why = "Keep Volume has no effect: the volume of a body that may break cannot be kept"
        elif settings.resamples(material):
            why = "Keep Volume has no effect: the volume of a resampled body cannot be kept"
        elif not fitting.encloses(obj):
            why = "The mesh is open: there is no volume to keep. Close its holes, or switch Keep Volume off"
        if why:
            found.append(Hint("No volume kept", why))
    if problem := settings.presettle_problem(obj.pliant):
        found.append(Hint("No pre-settle", f"Does not start in equilibrium: {problem}"))
    return found


def odd_gravity(scene):
    """A sentence if the unit scale changes the meaning of the usual value of gravity."""
    metre = settings.metres(scene)
    pull = metre * Vector(settings.gravity(scene)).length
    if metre == 1.0 or pull == 0.0 or 0.2 < pull / fitting.GRAVITY < 5.0:
        return None
    return (
        f"Gravity is {pull:.3g} m/s² at this unit scale: Earth's is {fitting.GRAVITY / metre:g} "
        f"in Blender's units (Scene tab)"
    )


def all_of(context):
    """Hints for the active body and for the scene, the most important first."""
    obj, found = context.object, []
    if falls_for_ever(context.scene):
        found.append(Hint(NO_FLOOR, "There is no collider: bodies fall without end"))
    if not context.scene.pliant.use_contacts and count_bodies(context.scene) > 1:
        found.append(Hint(NO_COLLISION, "Soft bodies pass through each other: Bodies Collide is off"))
    if obj is not None and obj.type == "MESH" and obj.mode != "EDIT" and obj.pliant.role == "BODY":
        found.extend(of(obj))
    if gravity := odd_gravity(context.scene):
        found.append(Hint("Odd gravity", gravity))
    return found


def draw(layout, context):
    """Always one row, with or without hints, so that buttons below it do not move under the
    pointer."""
    found = all_of(context)
    row = layout.row(align=True)
    if not found:
        row.active = False
        row.label(text="No hints", icon="CHECKMARK")
        return
    mended = found[0].title in (NO_FLOOR, NO_COLLISION)  # by a button, which takes half of the row
    text = "" if mended else found[0].title
    if mended:
        text = f"{len(found)} Hint{'s' if len(found) > 1 else ''}"
    elif len(found) > 1:
        text += f" (+{len(found) - 1})"
    row.popover(panel=PLIANT_PT_hints.__name__, text=text, icon="INFO")
    if found[0].title == NO_FLOOR:
        row.operator(PLIANT_OT_add_floor.bl_idname, text="Add Floor", icon="MESH_PLANE")
    elif found[0].title == NO_COLLISION:
        row.prop(context.scene.pliant, "use_contacts", text="Collide", toggle=True)


class PLIANT_PT_hints(bpy.types.Panel):
    """Likely causes of a disappointing bake"""

    bl_label = "Hints"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"  # opened by a button only
    bl_ui_units_x = 18

    def draw(self, context):
        for hint in all_of(context):
            drawing.sentence(self.layout, hint.text, "INFO", width=POPOVER_LETTERS)


register, unregister = bpy.utils.register_classes_factory((PLIANT_PT_hints,))
