# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab "Pliant" in the sidebar of the 3D view: the most used buttons."""

import bpy

from ...preview import session
from .. import drawing
from ..operators import presets, roles
from . import hints
from .bake import draw_bake_buttons, draw_bake_notes, draw_result_buttons
from .body import draw_preview_button, draw_preview_numbers


class SidebarPanel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Pliant"


class PLIANT_PT_sidebar(SidebarPanel, bpy.types.Panel):
    bl_label = "Pliant"

    def draw(self, context):
        layout = self.layout
        obj = context.object
        if obj is None or obj.type != "MESH":
            drawing.sentence(layout, "Select a mesh to make it soft", "INFO", context)
            return
        layout.label(text=obj.name, icon="OBJECT_DATA")
        column = layout.column(align=True)
        for role, text, icon in (("BODY", "Soft Body", "MESH_ICOSPHERE"), ("COLLIDER", "Collider", "MESH_PLANE")):
            is_on = obj.pliant.role == role
            button = column.operator(roles.PLIANT_OT_set_role.bl_idname, text=text, icon=icon, depress=is_on)
            button.role = "NONE" if is_on else role
        if obj.pliant.role == "BODY":
            presets.draw(layout, obj.pliant.material)
            hints.draw(layout, context)
        if obj.pliant.role != "NONE":
            layout.operator("pliant.copy_settings", icon="PASTEDOWN")


class PLIANT_PT_sidebar_preview(SidebarPanel, bpy.types.Panel):
    bl_label = "Preview"
    bl_parent_id = "PLIANT_PT_sidebar"

    def draw(self, context):
        draw_preview_button(self.layout, context, text="Preview Clusters")
        if session.current(context.scene) is None:
            return  # display options matter only while the preview is on
        settings = context.scene.pliant
        column = self.layout.column(align=True)
        row = column.row(align=True)
        row.prop(settings, "preview_colours", toggle=True)
        row.prop(settings, "preview_particles", toggle=True)
        row = column.row(align=True)
        row.prop(settings, "preview_spheres", toggle=True)
        row.prop(settings, "preview_proxies", toggle=True)
        if settings.preview_colours:
            self.layout.prop(settings, "preview_colour_by")
        row = self.layout.row(align=True)
        row.prop(settings, "preview_level")
        row.prop(settings, "preview_opacity", slider=True)
        draw_preview_numbers(self.layout, context)


class PLIANT_PT_sidebar_bake(SidebarPanel, bpy.types.Panel):
    bl_label = "Bake"
    bl_parent_id = "PLIANT_PT_sidebar"

    def draw(self, context):
        draw_bake_buttons(self.layout, context)
        draw_bake_notes(self.layout, context)


class PLIANT_PT_sidebar_results(SidebarPanel, bpy.types.Panel):
    bl_label = "Results"
    bl_parent_id = "PLIANT_PT_sidebar"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        draw_result_buttons(self.layout, context.object)


classes = (PLIANT_PT_sidebar, PLIANT_PT_sidebar_preview, PLIANT_PT_sidebar_bake, PLIANT_PT_sidebar_results)
register, unregister = bpy.utils.register_classes_factory(classes)
