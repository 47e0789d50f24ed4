# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of the Physics tab, in the order of work. The panels of baking are in panels/bake.py."""

import bpy

from ...blender import fitting
from ...blender.settings import PAINTED, PLASTIC, plastic_refusal
from ...preview import session
from .. import drawing
from ..operators import presets
from . import hints, level_weights


class PhysicsPanel:
    """A panel of the Physics tab."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    roles = {"BODY"}

    @classmethod
    def poll(cls, context):
        obj = context.object
        return obj is not None and obj.pliant.role in cls.roles and (obj.type == "MESH" or obj.pliant.role != "BODY")

    @staticmethod
    def split(layout):
        """Labels on the left, values on the right, with keyframe decorators."""
        layout.use_property_split = True
        layout.use_property_decorate = True
        return layout

    @staticmethod
    def plain(layout):
        """The same for settings that cannot be keyframed."""
        layout.use_property_split = True
        layout.use_property_decorate = False
        return layout


class SubPanel(PhysicsPanel):
    bl_parent_id = "PLIANT_PT_main"
    bl_options = {"DEFAULT_CLOSED"}


class PLIANT_PT_main(PhysicsPanel, bpy.types.Panel):
    bl_label = "Pliant"
    roles = {"BODY", "COLLIDER"}

    def draw(self, context):
        layout = self.layout
        obj = context.object
        layout.row(align=True).prop(obj.pliant, "role", expand=True)
        if obj.pliant.role == "BODY":
            row = layout.row(align=True)
            row.scale_y = 1.3
            draw_preview_button(row, context)
            row.operator("pliant.bake", icon="RENDER_ANIMATION")
            hints.draw(layout, context)
        column = layout.column(align=True)
        column.operator("pliant.copy_settings", icon="PASTEDOWN")
        if obj.pliant.role == "BODY":
            column.operator("pliant.fit_settings", icon="FULLSCREEN_EXIT")


def draw_preview_button(layout, context, text="Preview"):
    is_on = session.current(context.scene) is not None
    layout.operator("pliant.preview", text=text, depress=is_on, icon="HIDE_OFF" if is_on else "HIDE_ON")


# ---------------------------------------------------------------- material


class PLIANT_PT_material(SubPanel, bpy.types.Panel):
    bl_label = "Material"
    bl_options = set()

    def draw(self, context):
        material = context.object.pliant.material
        presets.draw(self.layout, material)
        column = self.split(self.layout).column()
        column.prop(material, "stiffness_kind", text="Stiffness")
        column.prop(material, {"FREQUENCY": "frequency", "YOUNG": "young", "ALPHA": "alpha"}[material.stiffness_kind])
        column.prop(material, "damping")
        column.prop(material, "density")
        column.prop(material, "drag")


class PLIANT_PT_strain(PhysicsPanel, bpy.types.Panel):
    bl_label = "Limit Strain"
    bl_parent_id = "PLIANT_PT_material"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context):
        self.layout.prop(context.object.pliant.material, "use_strain_limit", text="")

    def draw(self, context):
        material = context.object.pliant.material
        column = self.split(self.layout).column()
        column.active = material.use_strain_limit
        column.prop(material, "strain_limit", text="Largest")


class PLIANT_PT_pressure(PhysicsPanel, bpy.types.Panel):
    bl_label = "Keep Volume"
    bl_parent_id = "PLIANT_PT_material"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context):
        self.layout.prop(context.object.pliant.material, "use_pressure", text="")

    def draw(self, context):
        material = context.object.pliant.material
        column = self.split(self.layout).column()
        column.active = material.use_pressure
        column.prop(material, "pressure")
        column.prop(material, "inflation")


class PLIANT_PT_plasticity(PhysicsPanel, bpy.types.Panel):
    bl_label = "Plasticity"
    bl_parent_id = "PLIANT_PT_material"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context):
        self.layout.prop(context.object.pliant.material, "use_plasticity", text="")

    def draw(self, context):
        own = context.object.pliant
        material, refusal = own.material, plastic_refusal(own)
        column = self.split(self.layout).column()
        column.active = material.use_plasticity and refusal is None
        column.prop(material, "yield_strain")
        column.prop(material, "flow", text="Flow per Substep" if material.flow_per_step else "Flow")
        column.prop(material, "hardening")
        column.prop(material, "plastic_limit")
        column.prop(material, "use_recluster")
        part = column.column()
        part.active = material.use_recluster
        part.prop(material, "recluster_condition")
        column.prop(material, "use_resample")
        column.prop(material, "use_strain_attribute", text="Save Strain")
        if refusal:
            drawing.sentence(self.layout, refusal[0].upper() + refusal[1:], "ERROR", context)


# ---------------------------------------------------------------- clusters, particles


class PLIANT_PT_clusters(SubPanel, bpy.types.Panel):
    bl_label = "Clusters"

    def draw(self, context):
        clusters = context.object.pliant.clusters
        column = self.plain(self.layout).column()
        column.prop(clusters, "algorithm")
        column.prop(clusters, "kernel")
        row = column.row()
        row.active = clusters.algorithm != "RANDOM"  # the radius has no setting: the algorithm determines it
        row.prop(clusters, "count_mode")
        if clusters.count_mode == "COUNT":
            column.prop(clusters, "count")
        elif clusters.count_mode == "SIZE":
            column.prop(clusters, "size")
        column.prop(clusters, "radius_mode")
        column.prop(
            clusters,
            "radius" if clusters.radius_mode == "FIXED" else "overlap",
            text="Reach" if clusters.radius_mode == "FIXED" else "Overlap",
        )


class PLIANT_PT_levels(PhysicsPanel, bpy.types.Panel):
    bl_label = "Levels"
    bl_parent_id = "PLIANT_PT_clusters"

    def draw(self, context):
        clusters = context.object.pliant.clusters
        column = self.plain(self.layout).column()
        column.prop(clusters, "levels")
        if clusters.levels < 2:
            return
        column.prop(clusters, "weighting")
        if clusters.weighting in ("LINEAR", "GAUSSIAN", "POLYNOMIAL"):
            column.row().prop(clusters, "favour", expand=True)
        if clusters.weighting == "MANUAL":
            for level in range(clusters.levels):
                column.prop(clusters, "weights", index=level, slider=True, text=level_name(level, clusters.levels))
        self.draw_weights(clusters, session.shown(context.object))

    def draw_weights(self, clusters, shown):
        """A bar for each level: its weight."""
        box = self.layout.box().column(align=True)
        levels = min(clusters.levels, shown.levels) if shown else clusters.levels
        parts = level_weights.level_weights(clusters, levels)
        if not any(parts):
            box.label(text="At least one level must count", icon="ERROR")
        if levels < clusters.levels:
            box.label(text=f"{levels} are enough", icon="INFO")
        for level, part in enumerate(parts):
            row = box.split(factor=0.4, align=True)
            name = level_name(level, levels)
            if shown and level < shown.levels:
                name += f" ({drawing.count(shown.level_clusters[level])})"
            row.label(text=name)
            row.progress(factor=part, text=f"{part * 100:.0f} %")


def level_name(level, levels):
    if level == 0:
        return "Finest"
    return "Coarsest" if level == levels - 1 else f"Level {level}"


class PLIANT_PT_particles(SubPanel, bpy.types.Panel):
    bl_label = "Particles"

    def draw(self, context):
        obj = context.object
        particles = obj.pliant.particles
        column = self.plain(self.layout).column()
        column.prop(particles, "sampling")
        kind = fitting.sampled_kind(obj)
        if particles.sampling != "VERTICES":
            column.row().prop(particles, "mode", expand=True)
            column.prop(particles, "count" if particles.mode == "COUNT" else "spacing")
        if kind in ("SURFACE", "VERTICES"):
            column.prop(particles, "thickness")
        column.prop(particles, "shells")
        column.prop(particles, "seed")
        self.draw_estimate(context, obj, kind)

    def draw_estimate(self, context, obj, kind):
        shown = session.shown(obj)
        if shown:
            particles, clusters = len(shown.particles), shown.level_clusters[0]
            spacing, about = shown.spacing, ""
        else:
            particles = fitting.guess_count(obj)
            clusters = fitting.guess_clusters(obj, particles)
            spacing, about = fitting.guess_spacing(obj, max(4, particles)), "about "
        where = {"SURFACE": "on the surface", "VERTICES": "at the vertices"}.get(kind, "inside")
        column = self.layout.box().column(align=True)
        column.label(text=f"{about}{drawing.count(particles)} particles {where}".capitalize(), icon="INFO")
        column.label(
            text=f"{drawing.length(spacing, context.scene)} apart, {drawing.count(clusters)} clusters", icon="BLANK1"
        )


class PLIANT_PT_preview(SubPanel, bpy.types.Panel):
    bl_label = "Preview"

    def draw(self, context):
        draw_preview_button(self.layout, context, text="Preview Clusters")
        settings = context.scene.pliant
        column = self.plain(self.layout).column(heading="Show")
        column.prop(settings, "preview_colours")
        part = column.column()
        part.active = settings.preview_colours
        part.prop(settings, "preview_colour_by")
        column.prop(settings, "preview_particles")
        column.prop(settings, "preview_spheres")
        column.prop(settings, "preview_proxies")
        column = self.layout.column()
        column.prop(settings, "preview_level")
        column.prop(settings, "preview_opacity")
        draw_preview_numbers(self.layout, context)


def draw_preview_numbers(layout, context):
    """Results of the preview, or its progress."""
    found = session.current(context.scene)
    if found is None:
        return
    if found.builder:
        layout.progress(factor=found.builder.fraction, text=found.builder.stage.capitalize() or "Making clusters")
    if found.error:
        drawing.sentence(layout, found.error, "ERROR", context)
    outcome = found.outcome
    if outcome and outcome.bodies:
        box = layout.box().column(align=True)
        drawing.rows(
            box,
            [
                ("Particles", drawing.count(outcome.particles)),
                ("Clusters", drawing.count(outcome.clusters)),
                ("Memberships", drawing.count(outcome.memberships)),
            ],
        )
        draw_bake_numbers(box, outcome)
        for body in outcome.bodies:
            for warning in body.warnings:
                drawing.sentence(layout, f"{body.name}: {warning}", "INFO", context)
    for text in found.refused.values():
        drawing.sentence(layout, text, "ERROR", context)


def draw_bake_numbers(layout, outcome):
    """Time, memory and disk of a bake, as the preview has measured."""
    layout.separator()
    layout.label(text=f"A bake of {drawing.count(outcome.frames)} frames takes about")
    found = [("Memory", drawing.size(outcome.memory))]
    if outcome.disk:
        found.append(("Disk", drawing.size(outcome.disk)))
    if outcome.frame_seconds:
        found.append(("Time", drawing.duration(outcome.seconds)))
    if outcome.substeps:
        found.append(("Substeps", f"{outcome.substeps} a frame"))
    drawing.rows(layout, found)


# ---------------------------------------------------------------- start, paint


class PLIANT_PT_start(SubPanel, bpy.types.Panel):
    bl_label = "Start and Pins"

    def draw(self, context):
        start = context.object.pliant.start
        column = self.plain(self.layout).column()
        column.prop(start, "velocity")
        column.prop(start, "angular_velocity")
        column = self.layout.column(heading="Follow")
        row = column.row(align=True)
        row.prop(start, "use_follow", text="")
        part = row.row(align=True)
        part.active = start.use_follow
        part.prop(start, "release_frame", text="Until")


class PLIANT_PT_pins(PhysicsPanel, bpy.types.Panel):
    bl_label = "Pins"
    bl_parent_id = "PLIANT_PT_start"

    def draw_header(self, context):
        self.layout.prop(context.object.pliant.start, "use_pins", text="")

    def draw(self, context):
        obj = context.object
        start = obj.pliant.start
        column = self.split(self.layout).column()
        column.active = start.use_pins
        row = column.row()
        row.use_property_decorate = False
        row.prop_search(start, "pin_group", obj, "vertex_groups")
        column.prop(start, "pin_mode")
        column.prop(start, "pin_frequency")
        part = column.row()
        part.use_property_decorate = False
        part.prop(start, "use_presettle")
        column.prop(start, "pin_strength")
        if start.use_pins and start.pin_group not in obj.vertex_groups:
            drawing.sentence(
                self.layout,
                f'There is no vertex group "{start.pin_group}"'
                if start.pin_group
                else "Choose the vertex group that is pinned",
                "ERROR",
                context,
            )


class PLIANT_PT_paint(SubPanel, bpy.types.Panel):
    bl_label = "Painted Material"

    def draw(self, context):
        obj = context.object
        paint = obj.pliant.paint
        layout = self.plain(self.layout)
        for name in PAINTED:
            column = layout.column(align=True)
            column.active = is_used(obj.pliant, name)
            column.prop_search(paint, f"{name}_group", obj, "vertex_groups")
            group = getattr(paint, f"{name}_group")
            if group:
                column.prop(paint, f"{name}_zero", text="Factor at 0")
                column.prop(paint, f"{name}_one", text="At 1")
                if group not in obj.vertex_groups:
                    drawing.sentence(layout, f'There is no vertex group "{group}"', "ERROR", context)


def is_used(own, painted):
    """Whether a painted group has an effect with the body's settings."""
    if painted == "toughness":
        return own.fracture.use_fracture
    return painted not in PLASTIC or own.material.use_plasticity


classes = (
    PLIANT_PT_main,
    PLIANT_PT_material,
    PLIANT_PT_strain,
    PLIANT_PT_pressure,
    PLIANT_PT_plasticity,
    PLIANT_PT_clusters,
    PLIANT_PT_levels,
    PLIANT_PT_particles,
    PLIANT_PT_preview,
    PLIANT_PT_start,
    PLIANT_PT_pins,
    PLIANT_PT_paint,
)
register, unregister = bpy.utils.register_classes_factory(classes)
