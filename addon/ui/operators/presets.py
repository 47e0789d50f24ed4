# SPDX-License-Identifier: GPL-3.0-or-later
"""Material buttons and menu. Presets of the user are written and run by Blender's preset operators."""

import bpy
from bl_operators.presets import AddPresetBase

from ...blender.presets import PLAIN, PLAIN_FRACTURE, SUBFOLDER, TABLE, apply


def soft_bodies(context):
    """The bodies that a panel's button applies to: the active one and the selected ones."""
    found = [obj for obj in context.selected_objects or () if obj.type == "MESH" and obj.pliant.role == "BODY"]
    active = context.object
    if active and active.type == "MESH" and active.pliant.role == "BODY" and active not in found:
        found.append(active)
    return found


class PLIANT_OT_material_preset(bpy.types.Operator):
    bl_idname = "pliant.material_preset"
    bl_label = "Material"
    bl_options = {"REGISTER", "UNDO"}
    bl_description = "Set a material on the active body and all selected ones, fitted to their size"

    name: bpy.props.StringProperty(name="Material", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context, properties):
        return TABLE[properties.name][0] if properties.name in TABLE else cls.bl_description

    @classmethod
    def poll(cls, context):
        if not soft_bodies(context):
            cls.poll_message_set("Make an object a soft body first")
            return False
        return True

    def execute(self, context):
        if self.name not in TABLE:
            self.report({"ERROR"}, f'There is no material "{self.name}": choose one of {", ".join(TABLE)}')
            return {"CANCELLED"}
        for obj in soft_bodies(context):
            apply(obj, self.name)
        PLIANT_MT_material_presets.bl_label = self.name
        return {"FINISHED"}


class PLIANT_MT_material_presets(bpy.types.Menu):
    bl_label = "Materials"
    preset_subdir = SUBFOLDER
    preset_operator = "script.execute_preset"

    def draw(self, context):
        for name in TABLE:
            self.layout.operator(PLIANT_OT_material_preset.bl_idname, text=name).name = name
        folders = bpy.utils.preset_paths(SUBFOLDER)
        if folders:
            self.layout.separator()
            bpy.types.Menu.draw_preset(self, context)

    @staticmethod
    def reset_cb(context, _filepath):
        """Called before a preset of the user is run. Presets saved before plasticity existed do not
        contain its settings: everything that a preset leaves out is as in PLAIN."""
        if context.object:
            for group, plain in (("material", PLAIN), ("fracture", PLAIN_FRACTURE)):
                for key, value in plain.items():
                    setattr(getattr(context.object.pliant, group), key, value)

    @staticmethod
    def post_cb(context, filepath):
        """Called after a preset of the user was run."""
        if context.object:
            context.object.pliant.material.preset = bpy.path.display_name(bpy.path.basename(filepath), title_case=False)


class PLIANT_OT_material_preset_add(AddPresetBase, bpy.types.Operator):
    bl_idname = "pliant.material_preset_add"
    bl_label = "Add Material"
    bl_description = "Save these settings as a material of your own, or remove the one chosen last"
    preset_menu = "PLIANT_MT_material_presets"
    preset_subdir = SUBFOLDER
    preset_defines = ["material = bpy.context.object.pliant.material", "fracture = bpy.context.object.pliant.fracture"]
    preset_values = [
        *(f"material.{name}" for name in (*PLAIN, "young", "alpha")),
        *(f"fracture.{name}" for name in PLAIN_FRACTURE),
    ]

    @classmethod
    def poll(cls, context):
        if not context.object or context.object.pliant.role != "BODY":
            cls.poll_message_set("The active object is not a soft body")
            return False
        return True

    def execute(self, context):
        if not (self.remove_active or self.remove_name):
            if self.name.strip() in TABLE:
                self.report({"ERROR"}, f'"{self.name.strip()}" is a built-in material: choose another name')
                return {"CANCELLED"}
        elif PLIANT_MT_material_presets.bl_label in TABLE:
            self.report({"WARNING"}, "Built-in materials cannot be removed")
            return {"CANCELLED"}
        done = super().execute(context)
        if "FINISHED" in done:
            removed = self.remove_active or self.remove_name
            context.object.pliant.material.preset = "" if removed else PLIANT_MT_material_presets.bl_label
        return done


classes = (PLIANT_OT_material_preset, PLIANT_MT_material_presets, PLIANT_OT_material_preset_add)


def draw(layout, material):
    """The row that chooses a material."""
    row = layout.row(align=True)
    row.menu(PLIANT_MT_material_presets.__name__, text=material.preset or "Choose a Material", icon="PRESET")
    row.operator(PLIANT_OT_material_preset_add.bl_idname, text="", icon="ADD")
    row.operator(PLIANT_OT_material_preset_add.bl_idname, text="", icon="REMOVE").remove_active = True


register, unregister = bpy.utils.register_classes_factory(classes)
