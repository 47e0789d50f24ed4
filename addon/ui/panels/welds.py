# SPDX-License-Identifier: GPL-3.0-or-later
"""Welds, what an object sticks to where they touch at the first frame: their buttons and panel. The
settings are in contacts.py."""
import bpy
from bpy.props import IntProperty

from ...blender import settings
from .. import drawing
from ..properties.contacts import can_be_welded
from .body import SubPanel


class PLIANT_OT_weld_add(bpy.types.Operator):
    bl_idname = "pliant.weld_add"
    bl_label = "Weld to Selected"
    bl_description = "Stick the active object to the other selected soft bodies and colliders, where " \
                     "they touch at the first frame; with none selected, to one that you choose then"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.object is None or context.object.pliant.role == "NONE":
            cls.poll_message_set("Make the active object a soft body or a collider first")
            return False
        return True

    def execute(self, context):
        obj = context.object
        known = {weld.object for weld in obj.pliant.welds}
        wanted = [other for other in context.selected_objects
                  if other != obj and can_be_welded(None, other)]
        for other in [o for o in wanted if o not in known] if wanted else [None]:
            obj.pliant.welds.add().object = other
        return {"FINISHED"}


class PLIANT_OT_weld_remove(bpy.types.Operator):
    bl_idname = "pliant.weld_remove"
    bl_label = "Remove Weld"
    bl_description = "The object is not stuck to this one any more"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Index", min=0, options={"HIDDEN"}, description="Which weld")

    @classmethod
    def poll(cls, context):
        return context.object is not None and len(context.object.pliant.welds) > 0

    def execute(self, context):
        welds = context.object.pliant.welds
        if self.index >= len(welds):
            self.report({"WARNING"}, f"There is no weld {self.index + 1}: there are {len(welds)}")
            return {"CANCELLED"}
        welds.remove(self.index)
        return {"FINISHED"}


class PLIANT_PT_welds(SubPanel, bpy.types.Panel):
    bl_label = "Welds"
    roles = {"BODY", "COLLIDER"}

    def draw(self, context):
        obj = context.object
        for index, weld in enumerate(obj.pliant.welds):
            self.draw_weld(context, obj, index, weld)
        self.layout.operator("pliant.weld_add", icon="LINKED")

    def draw_weld(self, context, obj, index, weld):
        box = self.plain(self.layout.box())
        row = box.row(align=True)
        row.prop(weld, "object", text="Weld to")
        row.operator("pliant.weld_remove", text="", icon="X").index = index
        if (problem := problem_of(obj, weld)) is not None:
            drawing.sentence(box, problem, "ERROR", context)
        column = box.column()
        column.prop(weld, "strength")
        column.prop(weld, "distance")


def problem_of(obj, weld):
    """Why a bake would refuse a weld, as a sentence without its full stop; None: it would not."""
    problem = settings.weld_problem(obj, weld.object)
    return None if problem is None else f"'{obj.name}' {problem}"


classes = (PLIANT_OT_weld_add, PLIANT_OT_weld_remove, PLIANT_PT_welds)
register, unregister = bpy.utils.register_classes_factory(classes)
