# SPDX-License-Identifier: GPL-3.0-or-later
"""Two heads that meet, as an artist makes them: a collider, groups, a weld, contact shapes, and how many
contacts the bake tells of."""

import bpy
import stage
from test_panels import panel_classes, shown_alone
from window import addon


def choose(active, *others):
    """Selects them as clicks in the outliner would."""
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj.name in (active, *others))
    bpy.context.view_layer.objects.active = bpy.data.objects[active]


def panel(name):
    return next(cls for cls in panel_classes() if cls.__name__ == f"PLIANT_PT_{name}")


def test_two_heads_meet_and_the_bake_counts_their_contacts(w):
    yield from stage.suzanne(w, count=700, smooth=1, location=(0, 0, 1.1))
    with w.context("VIEW_3D"):
        bpy.ops.object.duplicate()
        bpy.context.object.location = (0.2, 0.1, 3)
    names = ["Suzanne", bpy.context.view_layer.objects.active.name]
    scene = bpy.context.scene
    scene.frame_end = 12
    yield from w.properties_tab("PHYSICS")
    choose("Floor")
    yield from w.press("pliant.set_role(role='COLLIDER')", "PROPERTIES")
    yield lambda: bpy.data.objects["Floor"].pliant.role == "COLLIDER"
    yield from w.still("PROPERTIES")
    w.screenshot("collider")
    choose(*names)
    yield from w.press("pliant.set_role(role='BODY')", "PROPERTIES")
    yield lambda: all(bpy.data.objects[name].pliant.role == "BODY" for name in names)
    assert scene.pliant.use_contacts
    yield from w.press("pliant.bake", "PROPERTIES", columns=(0.75,))
    yield lambda: addon("blender.folders").baked_range(scene) == (1, 12)
    yield lambda: not addon("blender.runs").any_running()
    kind, sentence = addon("blender.runs").last_message[scene.name]
    assert kind == "INFO" and " contacts (frame " in sentence and "at most 0 " not in sentence, sentence
    yield from w.still("PROPERTIES")
    w.screenshot("baked")


def test_groups_and_welds_by_clicks(w):
    yield from stage.soft(w, smooth=0)
    bpy.context.scene.pliant.use_contacts = True
    yield from w.properties_tab("PHYSICS")
    obj = bpy.data.objects["Suzanne"]
    with shown_alone(panel("collision")):
        yield from w.still("PROPERTIES")
        x, y = yield from w.find("groups", "PROPERTIES", columns=(0.72, 0.8))
        yield from w.click(x, y)
        yield 0.3
        w.screenshot("groups")
        groups = list(obj.pliant.contacts.groups)
        assert groups.count(True) == 2 and groups[0], groups  # a click adds, as the tooltip says
        yield from w.press("use_self", "PROPERTIES", columns=(0.6,))
        yield lambda: obj.pliant.contacts.use_self
    choose("Suzanne", "Floor")
    with shown_alone(panel("welds")):
        yield from w.press("pliant.weld_add", "PROPERTIES")
        yield lambda: [weld.object.name for weld in obj.pliant.welds] == ["Floor"]
        yield from w.still("PROPERTIES")
        w.screenshot("weld")
        yield from w.press("pliant.weld_remove", "PROPERTIES", columns=(0.87, 0.9, 0.84))
        yield lambda: not obj.pliant.welds
    yield 0.3
