# SPDX-License-Identifier: GPL-3.0-or-later
"""The button that switches the preview on and off."""

import bpy

from . import session


class PLIANT_OT_preview(bpy.types.Operator):
    bl_idname = "pliant.preview"
    bl_label = "Preview Clusters"
    bl_options = {"REGISTER"}
    bl_description = (
        "Show the clusters of all soft bodies in the viewport, and estimate size and duration of the "
        "bake. Press again to switch it off"
    )

    wait: bpy.props.BoolProperty(
        name="Wait",
        default=False,
        options={"SKIP_SAVE", "HIDDEN"},
        description="Wait until the preview is shown, for scripts",
    )

    @classmethod
    def poll(cls, context):
        if session.current(context.scene) is not None:
            return True
        if not any(obj.type == "MESH" and obj.pliant.role == "BODY" for obj in context.scene.objects):
            cls.poll_message_set("There is no soft body in the scene yet")
            return False
        return True

    def execute(self, context):
        if session.current(context.scene) is not None:
            session.stop()
            return {"FINISHED"}
        session.start(context.scene, self.wait)
        found = session.current()
        if found.error:
            self.report({"ERROR"}, found.error)
            session.stop()
            return {"CANCELLED"}
        for sentence in found.refused.values():
            self.report({"WARNING"}, sentence)
        return {"FINISHED"}


def register():
    bpy.utils.register_class(PLIANT_OT_preview)


def unregister():
    bpy.utils.unregister_class(PLIANT_OT_preview)
