# SPDX-License-Identifier: GPL-3.0-or-later
"""The later panels of the Physics tab: forces, collision, bake and cache, results, advanced."""

import bpy

from ...blender import compat, runs
from ...blender.results import results
from ...blender.roles import count_bodies
from ...preview import session
from .. import drawing, outdated, status
from .body import PhysicsPanel, SubPanel, draw_bake_numbers, level_name


class PLIANT_PT_forces(SubPanel, bpy.types.Panel):
    bl_label = "Forces"

    def draw(self, context):
        scene = context.scene
        settings = scene.pliant
        column = self.plain(self.layout).column()
        column.prop(settings, "use_gravity")
        part = column.column()
        part.active = settings.use_gravity and scene.use_gravity
        part.prop(scene, "gravity", text="Acceleration")
        if settings.use_gravity and not scene.use_gravity:
            drawing.sentence(self.layout, "Gravity is switched off in the Scene tab", "INFO", context)
        self.layout.column().prop(settings, "use_fields")
        self.draw_fields(context, settings)

    def draw_fields(self, context, settings):
        from ...blender.capture import fields

        found = [obj for obj in context.scene.objects if fields.is_field(obj)]
        column = self.layout.column()
        column.active = settings.use_fields
        if not found:
            column.label(text="No force fields in the scene", icon="INFO")
        for obj in found:
            refusal = fields.refusal(obj)
            kind = obj.field.bl_rna.properties["type"].enum_items[obj.field.type]
            row = column.row()
            row.label(text=obj.name, icon=kind.icon)
            part = row.row()
            part.alert = refusal is not None
            part.label(text=kind.name, icon="ERROR" if refusal else "CHECKMARK")
            for text in [refusal] if refusal else fields.remarks(obj):
                drawing.sentence(column, text, "BLANK1", context)


class PLIANT_PT_collision(SubPanel, bpy.types.Panel):
    bl_label = "Collision"

    def draw(self, context):
        found = [obj for obj in context.scene.objects if obj.pliant.role == "COLLIDER"]
        column = self.layout.column(align=True)
        if not found:
            drawing.sentence(
                column,
                "There is no collider: bodies fall without end. Select a floor and press Pliant Collider",
                "INFO",
                context,
            )
        for obj in found:
            row = column.row(align=True)
            row.label(text=obj.name, icon="MOD_PHYSICS")
            row.prop(obj.pliant.collider, "shape", text="")


class CollisionPart(PhysicsPanel):
    bl_parent_id = "PLIANT_PT_collision"


class PLIANT_PT_contacts(CollisionPart, bpy.types.Panel):
    """Scene settings, the same for all bodies."""

    bl_label = "Bodies Collide (Scene)"

    def draw_header(self, context):
        self.layout.prop(context.scene.pliant, "use_contacts", text="")

    def draw(self, context):
        scene = context.scene.pliant
        column = self.split(self.layout).column()
        count = count_bodies(context.scene)
        if count > 1 and not scene.use_contacts:
            drawing.sentence(column, f"The {count} soft bodies pass through each other", "INFO", context)
        part = column.column()
        part.active = scene.use_contacts
        part.prop(scene, "contact_friction")
        part.prop(scene, "contact_restitution")
        part.prop(scene, "contact_thickness")
        part.prop(scene, "contact_stiffness")
        part.prop(scene, "contact_iterations")


class PLIANT_PT_body_contacts(CollisionPart, bpy.types.Panel):
    bl_label = "This Body"

    def draw(self, context):
        scene, own = context.scene.pliant, context.object.pliant.contacts
        part = self.split(self.layout).column(heading="With")
        part.active = scene.use_contacts
        part.prop(own, "use_others")
        part.prop(own, "use_self")
        row = part.row()
        row.active = own.use_others
        row.use_property_decorate = False  # a dot for each group would need a row for each
        row.prop(own, "groups")
        column = self.layout.column()
        column.prop(own, "use_surface")
        part = column.column()
        part.active = own.use_surface
        part.prop(own, "friction")
        part.prop(own, "restitution")
        part.prop(own, "thickness")


class PLIANT_PT_sleep(CollisionPart, bpy.types.Panel):
    bl_label = "Sleep (Scene)"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context):
        self.layout.prop(context.scene.pliant, "use_sleep", text="")

    def draw(self, context):
        scene = context.scene.pliant
        column = self.split(self.layout).column()
        column.active = scene.use_sleep
        column.prop(scene, "sleep_speed")
        column.prop(scene, "sleep_seconds")


class PLIANT_PT_collider(SubPanel, bpy.types.Panel):
    bl_label = "Collision"
    bl_options = set()
    roles = {"COLLIDER"}

    def draw(self, context):
        collider = context.object.pliant.collider
        column = self.plain(self.layout).column()
        column.prop(collider, "shape")
        row = column.row()
        row.active = collider.shape not in ("PLANE", "SHELL")
        row.prop(collider, "inside_out")
        column = self.layout.column()
        column.use_property_decorate = True
        column.prop(collider, "friction")
        column.prop(collider, "restitution")
        column.prop(collider, "thickness")
        column.prop(collider, "use_running")
        part = column.column()
        part.active = collider.use_running
        part.prop(collider, "surface_velocity")
        part.prop(collider, "surface_spin")


# ---------------------------------------------------------------- bake


class PLIANT_PT_bake(SubPanel, bpy.types.Panel):
    bl_label = "Bake and Cache"
    bl_options = set()
    roles = {"BODY", "COLLIDER"}

    def draw(self, context):
        draw_bake_buttons(self.layout, context)
        layout = self.plain(self.layout)
        scene, settings = context.scene, context.scene.pliant
        column = layout.column()
        column.prop(settings, "use_scene_frames")
        column = column.column(align=True)
        if settings.use_scene_frames:
            column.active = False
            column.prop(scene, "frame_start", text="Start")
            column.prop(scene, "frame_end", text="End")
        else:
            column.prop(settings, "frame_start")
            column.prop(settings, "frame_end")
        column = layout.column()
        column.prop(settings, "substeps_mode")
        column.prop(
            settings,
            "substeps" if settings.substeps_mode == "FIXED" else "max_substeps",
            text="Number" if settings.substeps_mode == "FIXED" else "At Most",
        )
        column.prop(settings, "threads")
        column.prop(settings, "output")
        draw_bake_notes(self.layout, context)


class PLIANT_PT_cache(PhysicsPanel, bpy.types.Panel):
    bl_label = "Cache"
    bl_parent_id = "PLIANT_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}
    roles = {"BODY", "COLLIDER"}

    def draw(self, context):
        layout = self.plain(self.layout)
        settings = context.scene.pliant
        column = layout.column()
        column.prop(settings, "folder")
        folder = status.folder(context.scene)
        if folder and not settings.folder:
            drawing.sentence(column, folder, "FILE_FOLDER", context)
        column.prop(settings, "compression")
        column.prop(settings, "checkpoint_every")
        box = layout.box().column(align=True)
        found = status.cached(context.scene)
        if found:
            box.label(text=f"Frames {found.first} to {found.last} are baked", icon="CHECKMARK")
            if found.bytes:
                box.label(text=f"{drawing.size(found.bytes)} on disk", icon="BLANK1")
        else:
            box.label(text="Nothing is baked", icon="INFO")
        known = session.current(context.scene)
        if known and known.outcome and known.outcome.bodies:
            draw_bake_numbers(box, known.outcome)
        elif not found:
            box.label(text="Preview shows size and time", icon="BLANK1")
        row = layout.row()
        row.operator("pliant.clear", icon="TRASH")


def draw_bake_buttons(layout, context):
    """The Bake buttons, or the progress of the running bake."""
    running = status.running(context.scene)
    if running:
        draw_progress(layout, running)
        return
    column = layout.column(align=True)
    row = column.row(align=True)
    row.scale_y = 1.4
    row.operator("pliant.bake", icon="RENDER_ANIMATION")
    row = column.row(align=True)
    row.operator("pliant.quick_bake", text="Quick Bake", icon="PLAY")
    row.prop(context.scene.pliant, "quick_factor", text="", slider=True)
    row = column.row(align=True)
    row.operator("pliant.resume", icon="FF")
    row.operator("pliant.rebake_from_current", text="Rebake Here", icon="FRAME_NEXT")
    draw_bake_state(layout.row(align=True), context.scene)


def draw_bake_state(row, scene):
    """Always one row, so that buttons below it do not move under the pointer."""
    found = status.cached(scene)
    if found is None:
        row.label(text="Nothing is baked", icon="INFO")
    elif outdated.of(scene):
        row.label(text="Out of date", icon="ERROR")
        row.operator("pliant.bake", text="Rebake", icon="FILE_REFRESH")
    else:
        row.label(text=f"Frames {found.first} to {found.last} are baked", icon="CHECKMARK")


def draw_bake_notes(layout, context):
    """At the end of a panel: what has changed since the bake, and its most important message."""
    scene = context.scene
    if status.running(scene):
        return
    old = outdated.sentence(scene)
    if old:
        drawing.sentence(layout, old, "ERROR", context)
    message = status.message(scene)
    if message:
        drawing.sentence(layout, message[1], message[0], context)
    needed = runs.needed_substeps(scene)
    if needed:
        layout.operator("pliant.set_substeps", text=f"Allow {needed} Substeps", icon="CHECKMARK").substeps = needed


def draw_progress(layout, running):
    """Progress, pace, remaining time, and Cancel."""
    column = layout.column(align=True)
    row = column.row(align=True)
    row.progress(factor=running.fraction, text=running.text)
    row.operator("pliant.cancel", text="", icon="X")
    for text in running.lines:
        column.label(text=text)


class PLIANT_PT_results(SubPanel, bpy.types.Panel):
    bl_label = "Results"

    def draw(self, context):
        draw_result_buttons(self.layout, context.object)


def draw_result_buttons(layout, obj):
    """Buttons for other results from the baked frames."""
    grid = layout.grid_flow(columns=2, even_columns=True, align=True)
    for kind, text, icon in (
        ("PC2", "Point Cache", "MOD_MESHDEFORM"),
        ("MDD", "MDD", "FILE"),
        ("SHAPE_KEYS", "Shape Keys", "SHAPEKEY_DATA"),
        ("ALEMBIC", "Alembic", "FILE_CACHE"),
        ("POINTS", "Particles", "PARTICLES"),
        ("SURFACE", "Particle Mesh", "OUTLINER_OB_META"),
    ):
        part = grid.row(align=True)
        part.enabled = kind != "ALEMBIC" or compat.has_alembic()
        part.operator("pliant.make_result", text=text, icon=icon).format = kind
    if obj is not None and obj.pliant.fracture.use_fracture:
        for kind, text, icon in (("FRAGMENTS", "Fragments", "MOD_EXPLODE"), ("DEBRIS", "Debris", "STICKY_UVS_DISABLE")):
            grid.operator("pliant.make_result", text=text, icon=icon).format = kind
    if not compat.has_alembic():
        layout.label(text="This Blender has no Alembic", icon="INFO")
    column = layout.column(align=True)
    column.operator_menu_enum("pliant.bind_mesh", "format", text="Bind Mesh", icon="MOD_SHRINKWRAP")
    column.operator("pliant.refine_stretched", icon="MOD_SUBSURF")
    column.operator("pliant.remove_result", icon="X")


class PLIANT_PT_bound(PhysicsPanel, bpy.types.Panel):
    """For objects without a role that show a bake: bound meshes, particles."""

    bl_label = "Pliant Result"
    roles = {"NONE"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and context.object.type == "MESH" and results.has_result(context.object)

    def draw(self, context):
        result = context.object.pliant.result
        layout = self.layout
        if result.kind == "DEBRIS":
            drawing.sentence(layout, f"Points on the cracks of '{result.body}'", "PARTICLES", context)
        elif result.kind == "POINTS":
            drawing.sentence(layout, f"The particles of '{result.body}'", "PARTICLES", context)
        elif result.body:
            drawing.sentence(layout, f"Follows the bake of '{result.body}'", "LINKED", context)
        layout.operator("pliant.remove_result", icon="X")


# ---------------------------------------------------------------- advanced


class PLIANT_PT_advanced(SubPanel, bpy.types.Panel):
    bl_label = "Advanced"

    def draw(self, context):
        pliant = context.object.pliant
        self.split(self.layout)
        self.draw_goals(self.layout.column(), pliant.material)
        self.draw_strain(self.layout.column(), pliant.material)
        self.draw_flow(self.layout.column(heading="Flow"), pliant.material)
        self.plain(self.layout)
        self.draw_clusters(self.layout.column(), pliant.clusters)

    def draw_goals(self, column, material):
        column.prop(material, "goal")
        part = column.column()
        part.active = material.goal != "RIGID"
        part.prop(material, "beta")
        column.prop(material, "rotation")
        part = column.column(heading="Damping")
        part.prop(material, "damping_per_step", text="Per Substep")

    def draw_strain(self, column, material):
        column.label(text="Strain Limit")
        column.active = material.use_strain_limit
        column.prop(material, "strain_relaxation")
        column.prop(material, "strain_iterations")

    def draw_flow(self, column, material):
        column.active = material.use_plasticity
        column.prop(material, "flow_per_step", text="Per Substep")
        part = column.column(align=True)
        part.active = material.use_recluster
        part.label(text="Renewed Clusters")
        part.prop(material, "recluster_fade_in")
        part.prop(material, "recluster_fade_out")
        part.prop(material, "recluster_least")

    def draw_clusters(self, column, clusters):
        column.label(text="Clusters and Levels")
        column.prop(clusters, "kernel_parameter", text="Kernel")
        column.prop(clusters, "max_iterations")
        column.prop(clusters, "fixed")
        if clusters.levels < 2:
            return
        column.prop(clusters, "level_kind", text="Levels")
        column.prop(clusters, "reduction")
        column.prop(clusters, "radius_multiplier")
        part = column.column(align=True)
        part.active = clusters.weighting in ("LINEAR", "POLYNOMIAL")
        part.prop(clusters, "weight_a", text="Weights A")
        row = part.row()
        row.active = clusters.weighting == "POLYNOMIAL"
        row.prop(clusters, "weight_b", text="B")
        column.label(text="Damping by Level")
        part = column.column(align=True)
        for level in range(clusters.levels):
            part.prop(clusters, "level_damping", index=level, text=level_name(level, clusters.levels))


classes = (
    PLIANT_PT_forces,
    PLIANT_PT_collision,
    PLIANT_PT_contacts,
    PLIANT_PT_body_contacts,
    PLIANT_PT_sleep,
    PLIANT_PT_collider,
    PLIANT_PT_bake,
    PLIANT_PT_cache,
    PLIANT_PT_results,
    PLIANT_PT_bound,
    PLIANT_PT_advanced,
)
register, unregister = bpy.utils.register_classes_factory(classes)
