# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel of welds: objects that stick to each other where they touch at the first frame."""

import bpy

from ...blender import settings
from .. import drawing
from .body import SubPanel


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
    """Why a bake would refuse a weld, as a sentence without its full stop, or None."""
    problem = settings.weld_problem(obj, weld.object)
    return None if problem is None else f"'{obj.name}' {problem}"


classes = (PLIANT_PT_welds,)
register, unregister = bpy.utils.register_classes_factory(classes)
