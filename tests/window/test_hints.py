# SPDX-License-Identifier: GPL-3.0-or-later
"""Hints come and go in a row of their own: no button moves under the pointer."""

import bpy
import stage
import window
from window import addon

COLUMNS = (0.75, 0.3)


def test_add_floor_takes_the_floor_and_moves_nothing(w):
    yield from stage.suzanne(w, count=300, smooth=0)
    bpy.data.objects["Suzanne"].pliant.role = "BODY"
    yield from w.sidebar("Pliant")
    yield from w.still("VIEW_3D", "UI")
    w.screenshot("nothing-to-land-on")
    before = yield from w.find("pliant.copy_settings", "VIEW_3D", "UI", COLUMNS)
    yield from w.press("pliant.add_floor", "VIEW_3D", "UI", COLUMNS)
    yield lambda: bpy.data.objects["Floor"].pliant.role == "COLLIDER"
    assert len([o for o in bpy.data.objects if o.type == "MESH"]) == 2, list(bpy.data.objects)
    yield from w.still("VIEW_3D", "UI")
    after = yield from w.find("pliant.copy_settings", "VIEW_3D", "UI", COLUMNS)
    assert before == after, (before, after)


def test_hints_are_read_in_a_popover(w):
    own = bpy.data.objects["Suzanne"].pliant
    own.material.use_pressure = own.fracture.use_fracture = True
    place = yield from w.find("pliant.copy_settings", "VIEW_3D", "UI", COLUMNS)
    yield from w.still("VIEW_3D", "UI")
    shut = w.screenshot("shut")
    yield from w.click(place[0], place[1] - 25)
    yield 0.7
    opened = w.screenshot("popover")
    assert window.differs(shut, opened) > 0.005
    yield from w.move(*w.inside("VIEW_3D", 0.2, 0.8))
    yield from w.key("Escape")
    yield 0.3


def test_too_few_substeps_are_set_by_a_click(w):
    own, scene = bpy.data.objects["Suzanne"].pliant, bpy.context.scene
    own.fracture.use_fracture = False
    own.material.stiffness_kind, own.material.young = "YOUNG", 1e7
    scene.pliant.max_substeps, scene.frame_end = 2, 3
    with w.context("VIEW_3D"):
        bpy.ops.pliant.bake("INVOKE_DEFAULT")
    yield lambda: addon("blender.runs").any_running()
    yield lambda: not addon("blender.runs").any_running()
    yield from w.still("VIEW_3D", "UI")
    w.screenshot("substeps")
    needed = addon("blender.runs").needed_substeps(scene)
    assert needed and needed > 2, needed
    yield from w.press("pliant.set_substeps", "VIEW_3D", "UI", COLUMNS)
    yield lambda: scene.pliant.max_substeps == needed
