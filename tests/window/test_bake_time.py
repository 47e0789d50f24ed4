# SPDX-License-Identifier: GPL-3.0-or-later
"""The window stays usable during a bake, which playing, undo and the add-on itself may interrupt."""

import time

import addon_utils
import bpy
import stage
from window import addon

MOST = 0.05  # seconds that one look at a bake may take


def test_looks_at_a_bake_are_short(w):
    """Of the main thread's own time: other programs on this machine do not count."""
    yield from stage.soft(w, count=20000, smooth=4)
    obj = bpy.data.objects["Suzanne"]
    assert len(obj.data.vertices) > 100000
    obj.display_type = "BOUNDS"  # drawing it without a graphics card takes all the time there is
    bpy.context.scene.frame_end = 25
    baking = addon("ui.operators.bake")._Baking
    looked, original = [], baking.modal

    def modal(self, context, event):
        simulating = self._run is not None and self._run.job is not None
        begun, clock = time.thread_time(), time.perf_counter()
        try:
            return original(self, context, event)
        finally:
            if simulating and event.type == "TIMER":
                looked.append((time.thread_time() - begun, time.perf_counter() - clock))

    baking.modal = modal
    try:
        with w.context("VIEW_3D"):
            bpy.ops.pliant.bake("INVOKE_DEFAULT")
        yield lambda: bool(looked)
        yield lambda: not addon("blender.runs").running(bpy.context.scene)
    finally:
        baking.modal = original
    assert len(looked) > 3, len(looked)
    looked = looked[:-1]  # the last one ends the bake
    own, wall = (max(look[k] for look in looked) for k in range(2))
    print(f"longest of {len(looked)} looks: {1000 * own:.1f} ms, {1000 * wall:.1f} ms by the clock", flush=True)
    assert own < MOST, own


def test_cutting_along_cracks_leaves_the_window_alone(w):
    """While a mesh is cut, looks are short; Esc leaves it whole, Make Result cuts."""
    yield from w.fresh()
    for obj in [o for o in bpy.data.objects if o.type == "MESH"]:
        bpy.data.objects.remove(obj)
    with w.context("VIEW_3D"):
        bpy.ops.mesh.primitive_cube_add(size=1)
        obj = bpy.context.object
        obj.modifiers.new("Dense", "SUBSURF").levels = 5
        obj.modifiers["Dense"].subdivision_type = "SIMPLE"
        bpy.ops.object.modifier_apply(modifier="Dense")
    obj.name, obj.display_type = "Block", "BOUNDS"
    assert len(obj.data.polygons) > 6000, len(obj.data.polygons)
    own, scene = obj.pliant, bpy.context.scene
    own.role = "BODY"
    own.particles.count = 800
    own.start.angular_velocity = (40, 9, 3)  # it flies apart
    own.fracture.use_fracture, own.fracture.toughness = True, 0.01
    own.fracture.breaks, own.fracture.cells = "CELLS", 12
    scene.use_gravity, scene.frame_end = False, 6
    baking, looked = addon("ui.operators.bake")._Baking, []
    original = baking.modal

    def modal(self, context, event):
        begun = time.thread_time()
        try:
            return original(self, context, event)
        finally:
            if event.type == "TIMER" and self._run is not None and self._run.cutting is not None:
                looked.append((time.thread_time() - begun, self._run.fraction))

    baking.modal = modal
    try:
        with w.context("VIEW_3D"):
            bpy.ops.pliant.bake("INVOKE_DEFAULT")
        yield lambda: len(looked) > 3
        text = addon("ui.status").running(scene).text
        w.screenshot("cutting")
        yield lambda: not addon("blender.runs").running(scene)
    finally:
        baking.modal = original
    assert obj.pliant.result.is_cut, addon("blender.runs").last_message
    assert text == "Cutting 'Block' along its cracks", text
    first, between = looked[0], looked[1:-1]  # the first one reads the mesh, the last one makes it
    longest = max(took for took, _ in between)
    print(
        f"longest of {len(between)} looks: {1000 * longest:.1f} ms; the first: "
        f"{1000 * first[0]:.0f} ms, the last: {1000 * looked[-1][0]:.0f} ms",
        flush=True,
    )
    assert longest < MOST, longest
    assert len({part for _, part in looked}) > 3, looked

    with w.context("VIEW_3D"):
        bpy.ops.pliant.bake("INVOKE_DEFAULT")
    yield lambda: (run := addon("blender.runs").running(scene)) is not None and run.cutting is not None
    yield from w.move(*w.inside("VIEW_3D"))
    yield from w.key("Escape")
    yield lambda: not addon("blender.runs").running(scene)
    assert not obj.pliant.result.is_cut
    assert addon("blender.folders").baked_range(scene) == (1, 6)
    with w.context("VIEW_3D"):
        bpy.context.view_layer.objects.active = obj
        assert bpy.ops.pliant.make_result("INVOKE_DEFAULT", format="PC2") == {"RUNNING_MODAL"}
    yield lambda: obj.pliant.result.is_cut


def test_playing_stops_while_the_scene_is_read(w):
    yield from stage.soft(w, count=2000)
    scene = bpy.context.scene
    scene.frame_end = 30
    scene.frame_set(5)
    with w.context("VIEW_3D"):
        bpy.ops.screen.animation_play()
    yield 0.5
    with w.context("VIEW_3D"):
        bpy.ops.pliant.bake("INVOKE_DEFAULT")
    yield lambda: not addon("blender.runs").running(bpy.context.scene)
    assert addon("blender.folders").baked_range(bpy.context.scene) == (1, 30)
    assert not bpy.context.screen or not bpy.context.screen.is_animation_playing
    yield 0.3


def test_undo_and_redo_around_bake_and_clear(w):
    yield from stage.soft(w, count=1500)
    bpy.context.scene.frame_end = 8

    def names():
        return [m.name for m in bpy.data.objects["Suzanne"].modifiers]

    with w.context("VIEW_3D"):
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.pliant.bake("INVOKE_DEFAULT")
    yield lambda: not addon("blender.runs").running(bpy.context.scene)
    yield 0.5
    assert "Pliant" in names(), names()
    with w.context("VIEW_3D"):
        bpy.ops.ed.undo()
    yield 0.3
    assert "Pliant" not in names(), names()
    with w.context("VIEW_3D"):
        bpy.ops.ed.redo()
    yield 0.3
    assert "Pliant" in names(), names()
    assert addon("blender.folders").baked_range(bpy.context.scene) == (1, 8)
    with w.context("VIEW_3D"):
        bpy.ops.pliant.clear("EXEC_DEFAULT")
        bpy.ops.ed.undo_push(message="cleared")
        bpy.ops.ed.undo()
    yield 0.3
    assert addon("blender.folders").baked_range(bpy.context.scene) is None
    with w.context("VIEW_3D"):
        bpy.ops.ed.redo()
    yield 0.3


def test_the_add_on_is_switched_off_during_a_bake(w):
    yield from stage.soft(w)
    with stage.slow_frames(0.1):
        with w.context("VIEW_3D"):
            bpy.ops.pliant.bake("INVOKE_DEFAULT")
        yield lambda: (addon("blender.runs").running(bpy.context.scene).frame or 0) >= 3
        job = addon("blender.runs").running(bpy.context.scene).job
        package = addon().__name__
        addon_utils.disable(package, default_set=True)
    assert job.state == "cancelled", job.state
    yield 0.3
    addon_utils.enable(package, default_set=True)
    assert bpy.data.objects["Suzanne"].pliant.role == "BODY"
    assert addon("blender.folders").baked_range(bpy.context.scene)[1] >= 3
    yield 0.5
