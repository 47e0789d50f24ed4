# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels as an artist finds them: three clicks to a soft body, and a picture of each."""
import bpy
import stage
import window
from window import addon


def test_suzanne_becomes_soft_by_a_click(w):
    yield from stage.suzanne(w)
    yield from w.properties_tab("PHYSICS")
    yield 1
    w.screenshot("physics-tab")
    found = yield from stage.buttons_from_below(w, "PROPERTIES", most=2)
    assert len(found) == 2, found  # Pliant Collider, and above it Pliant Soft Body
    yield from w.click(*found[1])
    yield lambda: bpy.data.objects["Suzanne"].pliant.role == "BODY"
    assert bpy.data.objects["Suzanne"].pliant.material.preset == "Rubber"
    yield 1
    w.screenshot("soft")
    yield from w.move(*w.inside("VIEW_3D", .4, .8))
    yield from w.key("ctrl+z")
    yield lambda: bpy.data.objects["Suzanne"].pliant.role == "NONE"


def panel_classes():
    return [*addon("ui.panels").classes, *addon("ui.panels_bake").classes]


def only_open(w, label):
    """yield from ...: one sub-panel open, all others closed: they are registered anew that way."""
    classes = panel_classes()
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
    yield .3
    for cls in classes:
        parent = getattr(cls, "bl_parent_id", "")
        shown = parent != "PLIANT_PT_main" or cls.bl_label == label
        cls.bl_options = set() if shown else {"DEFAULT_CLOSED"}
        cls.bl_idname = f"{cls.__name__}_{label.replace(' ', '_').lower()}"
        bpy.utils.register_class(cls)
    yield from w.redraw()


def test_every_panel_has_its_picture(w):
    yield from stage.soft(w)
    obj = bpy.data.objects["Suzanne"]
    obj.pliant.clusters.levels = 4
    obj.pliant.clusters.weighting = "GAUSSIAN"
    obj.vertex_groups.new(name="Ears")
    obj.pliant.start.use_pins = True
    obj.pliant.start.pin_group = obj.pliant.paint.stiffness_group = "Ears"
    with w.context("VIEW_3D"):
        bpy.ops.object.effector_add(type="WIND", location=(3, 3, 0))
        bpy.ops.object.effector_add(type="TEXTURE", location=(3, 0, 0))
    bpy.context.view_layer.objects.active = obj
    yield from w.properties_tab("PHYSICS")
    yield from w.toggle_full("PROPERTIES")
    yield .5
    w.screenshot("all-closed")
    names = [cls.bl_label for cls in panel_classes()
             if getattr(cls, "bl_parent_id", "") == "PLIANT_PT_main" and "BODY" in cls.roles]
    closed = w.look()
    assert len(names) >= 10, names
    yield from w.toggle_full("PROPERTIES")
    assert window.colourfulness(closed)[0] < .1


def test_sidebar(w):
    yield from stage.soft(w)
    yield from w.sidebar("Pliant")
    yield 1
    w.screenshot("sidebar")
    assert w.region("VIEW_3D", "UI").active_panel_category == "Pliant"
    found = yield from stage.buttons_from_below(w, "VIEW_3D", "UI", x=.4, most=1)
    assert found
