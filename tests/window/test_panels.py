# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels as an artist finds them: three clicks to a soft body, and a picture of each."""

import contextlib

import bpy
import stage
import window
from window import addon


def test_three_clicks_from_suzanne_to_a_moving_body(w):
    yield from stage.suzanne(w)
    bpy.context.scene.frame_end = 10
    yield from w.properties_tab("PHYSICS")  # the first
    yield from w.still("PROPERTIES")
    w.screenshot("physics-tab")
    yield from w.press("pliant.set_role(role='BODY')", "PROPERTIES")
    yield lambda: bpy.data.objects["Suzanne"].pliant.role == "BODY"
    assert bpy.data.objects["Suzanne"].pliant.material.preset == "Rubber"
    yield from w.still("PROPERTIES")
    w.screenshot("soft")
    yield from w.press("pliant.bake", "PROPERTIES", columns=(0.75,))
    yield lambda: addon("blender.folders").baked_range(bpy.context.scene) == (1, 10)
    yield lambda: not addon("blender.runs").any_running()
    obj = bpy.data.objects["Suzanne"]
    tops = []
    for frame in (1, 10):
        bpy.context.scene.frame_set(frame)
        mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        tops.append(max(vertex.co.z for vertex in mesh.vertices))
    assert tops[1] < tops[0] - 0.3, tops
    yield 0.3


def test_undo_of_a_click(w):
    yield from stage.suzanne(w)
    yield from w.properties_tab("PHYSICS")
    yield from w.press("pliant.set_role(role='BODY')", "PROPERTIES")
    yield lambda: bpy.data.objects["Suzanne"].pliant.role == "BODY"
    yield from w.move(*w.inside("VIEW_3D", 0.4, 0.8))
    yield from w.key("ctrl+z")
    yield lambda: bpy.data.objects["Suzanne"].pliant.role == "NONE"


def panel_classes():
    return [
        *addon("ui.panels.body").classes,
        *addon("ui.panels.bake").classes,
        addon("ui.panels.welds").PLIANT_PT_welds,
        *addon("ui.panels.fracture").classes,
    ]


def alone(cls):
    """Copies of a panel and of those inside it, open, to be shown instead of all others."""
    copies = []
    for part in (cls, *(c for c in panel_classes() if getattr(c, "bl_parent_id", "") == cls.__name__)):
        copies.append(
            type(
                f"ALONE_PT_{part.__name__[10:]}",
                (part,),
                {"bl_options": set(), "bl_parent_id": "" if part is cls else f"ALONE_PT_{cls.__name__[10:]}"},
            )
        )
    return copies


@contextlib.contextmanager
def nothing_shown():
    """with nothing_shown(): the Physics tab is empty."""
    everything = [bpy.types.PHYSICS_PT_add, *panel_classes()]
    for cls in reversed(everything):
        bpy.utils.unregister_class(cls)
    try:
        yield
    finally:
        for cls in everything:
            bpy.utils.register_class(cls)


@contextlib.contextmanager
def only(cls):
    """with only(cls): in a tab where nothing is shown there is this panel, open."""
    copies = alone(cls)
    for copy in copies:
        bpy.utils.register_class(copy)
    try:
        yield
    finally:
        for copy in reversed(copies):
            bpy.utils.unregister_class(copy)


@contextlib.contextmanager
def shown_alone(cls):
    with nothing_shown(), only(cls):
        yield


def test_every_panel_has_its_picture(w):
    yield from stage.soft(w)
    obj = bpy.data.objects["Suzanne"]
    obj.pliant.clusters.levels = 4
    obj.pliant.clusters.weighting = "GAUSSIAN"
    obj.vertex_groups.new(name="Ears")
    obj.pliant.start.use_pins = True
    obj.pliant.start.pin_group = obj.pliant.paint.stiffness_group = "Ears"
    obj.pliant.welds.add().object = bpy.data.objects["Floor"]
    obj.pliant.fracture.use_fracture, obj.pliant.fracture.breaks = True, "CELLS"
    bpy.context.scene.pliant.use_contacts = obj.pliant.material.use_plasticity = True
    with w.context("VIEW_3D"):
        bpy.ops.object.effector_add(type="WIND", location=(3, 3, 0))
        bpy.ops.object.effector_add(type="TEXTURE", location=(3, 0, 0))
    bpy.context.view_layer.objects.active = obj
    yield from w.properties_tab("PHYSICS")
    with w.context("VIEW_3D"):
        bpy.ops.pliant.preview()
    session = addon("preview.session").current()
    yield lambda: not session.builder
    parents = [c for c in panel_classes() if getattr(c, "bl_parent_id", "PLIANT_PT_main") == "PLIANT_PT_main"]
    with nothing_shown():
        yield 0.5
        empty = window.crop(w.look(), w.box("PROPERTIES"))
        for cls in parents:
            if cls.roles == {"NONE"}:  # of meshes that show another's bake
                continue
            bpy.context.view_layer.objects.active = bpy.data.objects["Suzanne" if "BODY" in cls.roles else "Floor"]
            with only(cls):
                yield from w.redraw()
                yield from w.still("PROPERTIES", seconds=0.2)
                name = cls.__name__.removeprefix("PLIANT_PT_")
                picture = window.crop(w.screenshot(f"panel-{name}"), w.box("PROPERTIES"))
            assert window.differs(empty, picture) > 0.02, f"{name} shows nothing"
    with w.context("VIEW_3D"):
        bpy.ops.pliant.preview()
    yield 0.3


def test_sidebar(w):
    yield from stage.soft(w)
    yield from w.sidebar("Pliant")
    yield from w.still("VIEW_3D")
    w.screenshot("sidebar")
    found = yield from w.buttons("VIEW_3D", "UI", columns=(0.3,), until="pliant.quick_bake")
    for name in ("pliant.set_role", "pliant.preview", "pliant.bake", "pliant.quick_bake", "pliant.copy_settings"):
        assert name in found, f"no {name} in {sorted(found)}"
