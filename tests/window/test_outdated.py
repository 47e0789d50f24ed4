# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that is out of date: the strip turns amber, the panel names the setting, Rebake mends it."""

import bpy
import stage
import window
from window import addon


def found():
    return addon("ui.outdated").of(bpy.context.scene)


def strip(w):
    """Parts of a line above the timeline's scroll bar that are green and amber."""
    left, top, right, bottom = w.box("DOPESHEET_EDITOR")
    foot = window.crop(w.look(), (left, bottom - 21, right, bottom - 18))
    red, green, blue = (foot[..., i].astype(int) for i in range(3))
    amber = (red > green + 30) & (green > blue + 40)
    return float(((green > red + 40) & (green > blue + 20)).mean()), float(amber.mean())


def test_a_changed_setting_turns_it_amber(w):
    yield from stage.soft(w, smooth=0)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 12
    yield from w.properties_tab("PHYSICS")
    yield from w.sidebar("Pliant")
    yield from w.move(*w.inside("VIEW_3D", 0.3, 0.8))
    with w.context("VIEW_3D"):
        bpy.ops.pliant.bake("INVOKE_DEFAULT")
    yield lambda: addon("blender.folders").baked_range(scene) == (1, 12)
    yield lambda: not addon("blender.runs").any_running()
    yield 1.5
    assert found() == [], found()
    yield lambda: strip(w)[0] > 0.01 and strip(w)[1] < 0.001
    w.screenshot("up-to-date")
    bpy.data.objects["Suzanne"].pliant.material.damping = 9
    bpy.data.objects["Suzanne"].update_tag()
    yield lambda: found() != []
    assert "damping" in found()[0], found()
    yield lambda: strip(w)[1] > 0.01 and strip(w)[0] < 0.001
    yield from w.still("VIEW_3D")
    w.screenshot("out-of-date")


def test_rebake_mends_it(w):
    with w.context("VIEW_3D"):
        bpy.ops.pliant.bake("INVOKE_DEFAULT")
    yield lambda: addon("blender.runs").any_running()
    yield lambda: not addon("blender.runs").any_running()
    yield lambda: strip(w)[0] > 0.01 and strip(w)[1] < 0.001
    assert found() == [], found()


def test_bodies_that_pass_through_each_other_are_told(w):
    other = bpy.data.objects["Suzanne"].copy()
    other.data = other.data.copy()
    bpy.context.collection.objects.link(other)
    other.location.x += 3
    bpy.context.scene.pliant.use_contacts = False
    bpy.context.scene.unit_settings.scale_length = 0.01
    yield lambda: any("the list of bodies" in text for text in found())
    yield from w.still("VIEW_3D")
    w.screenshot("pass-through")
