# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake in the window: progress, Esc, Resume, playing, the timeline's strip."""

import bpy
import numpy as np
import stage
import window
from window import addon


def run():
    return addon("blender.runs").running(bpy.context.scene)


def baked():
    return addon("blender.folders").baked_range(bpy.context.scene)


def heights(name="Suzanne"):
    """Of the evaluated mesh in the world, at the current frame."""
    graph = bpy.context.evaluated_depsgraph_get()
    obj = bpy.data.objects[name].evaluated_get(graph)
    mesh = obj.data
    flat = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.attributes["position"].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)[:, 2] + obj.matrix_world.translation.z


def call(w, name, kind="VIEW_3D"):
    with w.context(kind):
        getattr(bpy.ops.pliant, name)("INVOKE_DEFAULT")


def strip(w):
    """Part of a line above the timeline's scroll bar that has the strip's colour."""
    left, top, right, bottom = w.box("DOPESHEET_EDITOR")
    foot = window.crop(w.look(), (left, bottom - 21, right, bottom - 18))
    red, green, blue = (foot[..., i].astype(int) for i in range(3))
    return float(((green > red + 40) & (green > blue + 20)).mean())


def test_bake_shows_its_progress_and_escape_stops_it(w):
    yield from stage.soft(w)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 120
    yield from stage.look_at(w, "Floor")
    yield from w.properties_tab("PHYSICS")
    yield from w.sidebar("Pliant")
    yield from w.move(*w.inside("VIEW_3D", 0.3, 0.8))
    assert strip(w) < 0.01
    with stage.slow_frames(0.4):
        call(w, "bake")
        yield lambda: run() is not None and (run().frame or 0) >= 6
        yield 0.4
        w.screenshot("baking")
        assert run(), "it ended too soon to look at"
        yield from w.key("Escape")
        yield lambda: run() is None
    first, last = baked()
    assert first == 1 and 6 <= last < 120, (first, last)
    yield lambda: 0.001 < strip(w) < 0.9
    w.screenshot("cancelled")


def test_finished_frames_play(w):
    scene = bpy.context.scene
    scene.frame_set(1)
    before = heights()
    scene.frame_set(baked()[1])
    after = heights()
    assert np.abs(after - before).max() > 0.01
    yield 0.1


def test_resume_goes_on_to_the_end(w):
    call(w, "resume")
    yield lambda: run() is not None
    yield lambda: run() is None
    assert baked() == (1, 120), baked()
    scene = bpy.context.scene
    scene.frame_set(120)
    found = heights()
    assert -0.2 < found.min() < 0.4, found.min()  # it lies on the floor
    yield lambda: not bpy.app.timers.is_registered(addon("blender.redraw")._settle)
    yield from w.still()
    w.screenshot("resumed")
    assert strip(w) > 0.3, strip(w)


def test_quick_bake_and_clear(w):
    yield from stage.soft(w, count=3000)
    bpy.context.scene.frame_end = 12
    call(w, "quick_bake")
    yield lambda: run() is None and addon("blender.folders").baked_range(bpy.context.scene, True) == (1, 12)
    with w.context("VIEW_3D"):
        bpy.ops.pliant.clear("EXEC_DEFAULT")
    assert addon("blender.folders").baked_range(bpy.context.scene, True) is None
    yield 0.3


def test_a_preview_that_is_on_stays_on(w):
    yield from stage.soft(w, count=1500)
    bpy.context.scene.frame_end = 30
    yield from stage.look_at(w)
    with w.context("VIEW_3D"):
        bpy.ops.pliant.preview()
    session = addon("preview.session").current()
    yield lambda: not session.builder
    outcome = session.outcome
    call(w, "bake")
    yield lambda: run() is None and baked() == (1, 30)
    bpy.context.scene.frame_set(22)
    yield from w.still("VIEW_3D")
    w.screenshot("baked-with-preview")
    middle = window.crop(w.look(), (*w.inside("VIEW_3D", 0.2, 0.2), *w.inside("VIEW_3D", 0.8, 0.95)))
    part, hues = window.colourfulness(middle)
    assert part > 0.05 and hues >= 6, (part, hues)
    assert session.outcome is outcome, "nothing has changed that makes other clusters"
    with w.context("VIEW_3D"):
        bpy.ops.pliant.preview()
    yield 0.3


def test_undo_during_a_bake_loses_nothing(w):
    yield from stage.soft(w, count=3000)
    bpy.context.scene.frame_end = 60
    with w.context("VIEW_3D"):
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.transform.translate(value=(0.2, 0, 0))
        bpy.ops.ed.undo_push(message="moved")
    yield from w.move(*w.inside("VIEW_3D", 0.3, 0.8))
    with stage.slow_frames(0.1):
        call(w, "bake")
        yield lambda: run() is not None and (run().frame or 0) >= 3
        yield from w.key("ctrl+z")
        assert run() is not None, "it ended too soon"
    yield lambda: run() is None
    assert baked() is not None
    yield 0.2


def test_a_new_file_during_a_bake(w):
    yield from stage.soft(w)
    with stage.slow_frames(0.1):
        call(w, "bake")
        yield lambda: run() is not None and (run().frame or 0) >= 2
        yield from w.fresh()
    assert not addon("blender.runs").any_running()
    assert "Cube" in bpy.data.objects
