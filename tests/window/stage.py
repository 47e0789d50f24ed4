# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene that window tests play in."""

import contextlib
import time

import bpy
from window import addon


def suzanne(w, count=1500, smooth=2, location=(0, 0, 2.2)):
    """yield from stage.suzanne(w): a dense Suzanne above a floor, nothing of it Pliant's yet."""
    yield from w.fresh()
    for obj in [o for o in bpy.data.objects if o.type == "MESH"]:
        bpy.data.objects.remove(obj)
    with w.context("VIEW_3D"):
        bpy.ops.mesh.primitive_plane_add(size=8)
        bpy.context.object.name = "Floor"
        bpy.ops.mesh.primitive_monkey_add(location=location)
        obj = bpy.context.object
        if smooth:
            obj.modifiers.new("Dense", "SUBSURF").levels = smooth
            bpy.ops.object.modifier_apply(modifier="Dense")
        bpy.ops.object.shade_smooth()
    obj.pliant.particles.count = count
    with w.context("VIEW_3D"):
        bpy.ops.ed.undo_push(message="The stage")
    yield 0.3


def soft(w, **settings):
    """yield from stage.soft(w): Suzanne is a soft body, the floor a collider."""
    yield from suzanne(w, **settings)
    bpy.data.objects["Suzanne"].pliant.role = "BODY"
    bpy.data.objects["Floor"].pliant.role = "COLLIDER"
    yield 0.3


def look_at(w, name="Suzanne"):
    """yield from stage.look_at(w): the 3D view shows the object from its front, a little above."""
    from mathutils import Euler

    view = w.area("VIEW_3D").spaces.active.region_3d
    view.view_rotation = Euler((1.25, 0, 0.45)).to_quaternion()
    view.view_perspective = "PERSP"
    view.view_location = bpy.data.objects[name].matrix_world.translation
    view.view_distance = 5.5
    w.area("VIEW_3D").tag_redraw()
    yield from w.still("VIEW_3D")


@contextlib.contextmanager
def slow_frames(seconds):
    """with stage.slow_frames(.3): each frame of a bake takes that much longer, so that there is time
    to look at it on any machine."""
    recorder = addon("bake.job").Recorder
    original = recorder.advance

    def advance(self, frame):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.job._check_cancel()
            time.sleep(0.01)
        original(self, frame)

    recorder.advance = advance
    try:
        yield
    finally:
        recorder.advance = original
