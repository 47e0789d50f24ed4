# SPDX-License-Identifier: GPL-3.0-or-later
"""The role of an object: soft body, collider, or none."""

import bpy

from ...blender import presets
from ...blender.roles import COLLIDERS, copy_settings, problem_of, reset_group
from .presets import soft_bodies

ROLES = {
    "BODY": ("Pliant Soft Body", "Make the object a soft body, with settings that fit its size"),
    "COLLIDER": ("Pliant Collider", "Make the object a collider for soft bodies"),
    "NONE": (
        "Remove Pliant",
        "Remove the role of the object. Its settings are kept for the next time, and baked frames stay on disk",
    ),
}


def chosen(context):
    """The active object and all selected ones, the active one first."""
    objects = [obj for obj in context.selected_objects or () if obj != context.object]
    return ([context.object] if context.object else []) + objects


class PLIANT_OT_set_role(bpy.types.Operator):
    bl_idname = "pliant.set_role"
    bl_label = "Pliant"
    bl_options = {"REGISTER", "UNDO"}
    bl_description = "Role of the selected objects"

    role: bpy.props.EnumProperty(name="Role", items=[(role, *texts) for role, texts in ROLES.items()])
    selected: bpy.props.BoolProperty(
        name="All Selected", default=True, description="Apply to all selected objects, not only to the active one"
    )

    @classmethod
    def description(cls, _context, properties):
        return ROLES[properties.role][1]

    @classmethod
    def poll(cls, context):
        if context.object is None:
            cls.poll_message_set("Select an object first")
            return False
        return True

    def execute(self, context):
        objects = chosen(context) if self.selected else [context.object]
        problems = []
        for obj in objects:
            problem = problem_of(obj, self.role)
            if problem:
                problems.append(problem)
            elif obj.pliant.role != self.role:
                obj.pliant.role = self.role
        for problem in problems:
            self.report({"ERROR" if len(problems) == len(objects) else "WARNING"}, problem)
        return {"CANCELLED"} if len(problems) == len(objects) else {"FINISHED"}


class PLIANT_OT_copy_settings(bpy.types.Operator):
    bl_idname = "pliant.copy_settings"
    bl_label = "Copy to Selected"
    bl_options = {"REGISTER", "UNDO"}
    bl_description = "Copy the active object's role and all its settings to the other selected objects"

    @classmethod
    def poll(cls, context):
        if context.object is None or context.object.pliant.role == "NONE":
            cls.poll_message_set("The active object is neither a soft body nor a collider")
            return False
        if len(chosen(context)) < 2:
            cls.poll_message_set("Select other objects too: the active object's settings are copied to them")
            return False
        return True

    def execute(self, context):
        source = context.object
        copied = 0
        for obj in chosen(context)[1:]:
            problem = problem_of(obj, source.pliant.role)
            if problem:
                self.report({"WARNING"}, problem)
                continue
            copy_settings(source.pliant, obj.pliant)
            copied += 1
        if not copied:
            return {"CANCELLED"}
        self.report({"INFO"}, f"Copied to {copied} object{'s' if copied > 1 else ''}")
        return {"FINISHED"}


class PLIANT_OT_fit_settings(bpy.types.Operator):
    bl_idname = "pliant.fit_settings"
    bl_label = "Fit to Size"
    bl_options = {"REGISTER", "UNDO"}
    bl_description = "Set material, clusters and particles as for a new body of this size"

    @classmethod
    def poll(cls, context):
        if not soft_bodies(context):
            cls.poll_message_set("The active object is not a soft body")
            return False
        return True

    def execute(self, context):
        for obj in soft_bodies(context):
            for part in ("material", "clusters", "particles"):
                reset_group(getattr(obj.pliant, part))
            presets.fit(obj)
        return {"FINISHED"}


def draw_physics_buttons(self, context):
    """Beside Blender's own physics; appended to PHYSICS_PT_add."""
    obj = context.object
    if obj is None or obj.type not in COLLIDERS:
        return
    flow = self.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=False, align=True)
    for role, icon in (("BODY", "MESH_ICOSPHERE"), ("COLLIDER", "MESH_PLANE")):
        if role == "BODY" and obj.type != "MESH":
            continue
        is_on = obj.pliant.role == role
        button = flow.column().operator(PLIANT_OT_set_role.bl_idname, text=ROLES[role][0], icon="X" if is_on else icon)
        button.role = "NONE" if is_on else role


classes = (PLIANT_OT_set_role, PLIANT_OT_copy_settings, PLIANT_OT_fit_settings)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)
    bpy.types.PHYSICS_PT_add.append(draw_physics_buttons)


def unregister():
    bpy.types.PHYSICS_PT_add.remove(draw_physics_buttons)
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
