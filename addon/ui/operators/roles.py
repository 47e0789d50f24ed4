# SPDX-License-Identifier: GPL-3.0-or-later
"""What an object is to Pliant: a soft body, a collider, or nothing."""

import bpy

from ...blender import presets
from ...blender.roles import COLLIDERS, copy_settings, problem_of, reset_group
from .presets import soft_bodies

ROLES = {
    "BODY": ("Pliant Soft Body", "Makes the object soft, with settings that fit its size"),
    "COLLIDER": ("Pliant Collider", "Soft bodies bounce off the object"),
    "NONE": (
        "Remove Pliant",
        "The object is nothing to Pliant any more. Its settings are kept for the next time, baked frames stay on disk",
    ),
}


def chosen(context):
    """The active object and all that are selected, the active one first."""
    objects = [obj for obj in context.selected_objects or () if obj != context.object]
    return ([context.object] if context.object else []) + objects


class PLIANT_OT_set_role(bpy.types.Operator):
    bl_idname = "pliant.set_role"
    bl_label = "Pliant"
    bl_options = {"REGISTER", "UNDO"}
    bl_description = "What the selected objects are to Pliant"

    role: bpy.props.EnumProperty(name="Role", items=[(role, *texts) for role, texts in ROLES.items()])
    selected: bpy.props.BoolProperty(
        name="All Selected", default=True, description="Also the other selected objects, not only the active one"
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
    bl_description = "Gives the other selected objects the active object's role and all its settings"

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
    bl_description = "Sets material, clusters and particles as they are for a new body of this size"

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
