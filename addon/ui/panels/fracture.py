# SPDX-License-Identifier: GPL-3.0-or-later
"""The Fracture panel, in the order of work: threshold, pattern, weak places, crack faces."""

import bpy

from ...blender.capture import edge_marks
from ...blender.capture.capture import package_problem
from ...blender.settings import fracture_refusal, pattern_problem
from .. import drawing
from .body import PhysicsPanel, SubPanel


class PLIANT_PT_fracture(SubPanel, bpy.types.Panel):
    bl_label = "Fracture"

    def draw_header(self, context):
        self.layout.prop(context.object.pliant.fracture, "use_fracture", text="")

    def draw(self, context):
        own = context.object.pliant
        fracture, refusal = own.fracture, fracture_refusal(own)
        column = self.split(self.layout).column()
        column.active = fracture.use_fracture and refusal is None
        column.prop(fracture, "toughness")
        column.prop(fracture, "boost")
        part = column.column()
        part.active = fracture.boost > 0
        part.prop(fracture, "falloff")
        column.prop(fracture, "use_settle")
        column.separator()
        column.prop(fracture, "breaks")
        if fracture.breaks == "CELLS":
            self.draw_cells(context, column, fracture)
        if fracture.use_fracture and refusal is None:
            refusal = package_problem()
        if refusal:
            drawing.sentence(self.layout, refusal[0].upper() + refusal[1:], "ERROR", context)

    def draw_cells(self, context, column, fracture):
        column.prop(fracture, "cells_from")
        name = {"COUNT": "cells", "SIZE": "cell_size", "OBJECT": "cells_object"}[fracture.cells_from]
        column.prop(fracture, name)
        if fracture.cells_from != "OBJECT":
            column.prop(fracture, "cell_seed")
        elif fracture.use_fracture and (problem := pattern_problem(context.object)) is not None:
            drawing.sentence(self.layout, f'"{context.object.name}" {problem}', "ERROR", context)


class FracturePart(PhysicsPanel):
    bl_parent_id = "PLIANT_PT_fracture"
    bl_options = {"DEFAULT_CLOSED"}

    def plain_column(self, context):
        """Inactive if the body does not break."""
        column = self.plain(self.layout).column()
        column.active = context.object.pliant.fracture.use_fracture
        return column


class PLIANT_PT_fracture_limits(FracturePart, bpy.types.Panel):
    bl_label = "Limits"
    bl_options = set()

    def draw(self, context):
        fracture = context.object.pliant.fracture
        column = self.plain_column(context)
        column.prop(fracture, "most_pieces")
        column.prop(fracture, "smallest_piece")
        row = column.row(align=True, heading="Not Before")
        row.prop(fracture, "use_first_frame", text="")
        part = row.row(align=True)
        part.active = fracture.use_first_frame
        part.prop(fracture, "first_frame", text="Frame")


class PLIANT_PT_fracture_seams(FracturePart, bpy.types.Panel):
    bl_label = "Weak Places"

    def draw(self, context):
        obj = context.object
        fracture, paint = obj.pliant.fracture, obj.pliant.paint
        column = self.plain_column(context)
        column.prop(fracture, "seam_edges")
        if fracture.seam_edges == "ATTRIBUTE":
            column.prop_search(fracture, "seam_attribute", obj.data, "attributes")
        column.prop_search(fracture, "seam_group", obj, "vertex_groups")
        part = column.column()
        part.active = fracture.seam_edges != "NONE" or bool(fracture.seam_group)
        part.prop(fracture, "seam_toughness")
        row = part.row()
        row.active = fracture.seam_edges != "NONE"
        row.prop(fracture, "seam_width")
        column.prop_search(paint, "toughness_group", obj, "vertex_groups", text="Painted")
        if paint.toughness_group:
            column.prop(paint, "toughness_zero", text="Factor at 0")
            column.prop(paint, "toughness_one", text="At 1")
        for problem in problems_of(obj):
            drawing.sentence(self.layout, problem, "ERROR", context)


def problems_of(obj):
    """Why a bake would refuse the weak places, as sentences without their full stops."""
    fracture, paint = obj.pliant.fracture, obj.pliant.paint
    for name in {fracture.seam_group, paint.toughness_group} - {""}:
        if name not in obj.vertex_groups:
            yield f'There is no vertex group "{name}"'
    if fracture.seam_edges == "ATTRIBUTE":
        try:
            edge_marks.check(obj.data, fracture.seam_attribute)
        except edge_marks.NoMarks as error:
            yield f"The mesh {error}"


class PLIANT_PT_fracture_inside(FracturePart, bpy.types.Panel):
    bl_label = "Inside"

    def draw(self, context):
        fracture = context.object.pliant.fracture
        column = self.plain_column(context)
        column.prop(fracture, "interior", text="Material")
        column.prop(fracture, "roughness")
        part = column.column()
        part.active = fracture.roughness > 0
        part.prop(fracture, "grain")
        column.prop(fracture, "detail")
        column.prop(fracture, "smoothing")
        column.prop(fracture, "uv_scale", text="UV Scale")
        column.prop(fracture, "opening")
        column.prop(fracture, "use_stretch", text="Save Stretch")
        column.prop(fracture, "use_partial")


classes = (PLIANT_PT_fracture, PLIANT_PT_fracture_limits, PLIANT_PT_fracture_seams, PLIANT_PT_fracture_inside)
register, unregister = bpy.utils.register_classes_factory(classes)
