# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add and remove welds."""

import bpy
from bpy.props import IntProperty

from ..properties.contacts import can_be_welded


class PLIANT_OT_weld_add(bpy.types.Operator):
    bl_idname = "pliant.weld_add"
    bl_label = "Weld to Selected"
    bl_description = (
        "Weld the active object to the other selected soft bodies and colliders, where they touch at "
        "the first frame; with none selected, choose the object in the list"
    )
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
        wanted = [other for other in context.selected_objects if other != obj and can_be_welded(None, other)]
        for other in [o for o in wanted if o not in known] if wanted else [None]:
            obj.pliant.welds.add().object = other
        return {"FINISHED"}


class PLIANT_OT_weld_remove(bpy.types.Operator):
    bl_idname = "pliant.weld_remove"
    bl_label = "Remove Weld"
    bl_description = "Remove this weld"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Index", min=0, options={"HIDDEN"}, description="Which weld")

    @classmethod
    def poll(cls, context):
        return context.object is not None and len(context.object.pliant.welds) > 0

    def execute(self, context):
        welds = context.object.pliant.welds
        if self.index >= len(welds):
            self.report({"WARNING"}, f"There is no weld {self.index + 1}: the object has {len(welds)}")
            return {"CANCELLED"}
        welds.remove(self.index)
        return {"FINISHED"}


classes = (PLIANT_OT_weld_add, PLIANT_OT_weld_remove)
register, unregister = bpy.utils.register_classes_factory(classes)
