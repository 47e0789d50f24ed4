# SPDX-License-Identifier: GPL-3.0-or-later
"""A strip at the bottom of the timeline and the dope sheet: the baked frames, amber if the scene
has changed since the bake."""

import bpy

from ..blender import folders
from . import outdated, status

HEIGHT = 5  # pixels at a scale of 1
FOOT = 17  # above the scroll bar
BAKED = (0.25, 0.72, 0.45, 0.9)
OUT_OF_DATE = (0.95, 0.62, 0.12, 0.9)
TO_BAKE = (0.25, 0.72, 0.45, 0.22)
_handler = None


def spans(scene):
    """What is drawn: [(first frame, frame after the last, colour)]."""
    found = []
    running = status.running(scene)
    baked = folders.baked_range(scene)
    if running:
        first, last = running.frames
        found.append((first, last + 1, TO_BAKE))
    if baked:
        old = not running and outdated.of(scene)
        found.append((baked[0], baked[1] + 1, OUT_OF_DATE if old else BAKED))
    return found


def _has_bodies(scene):
    return any(obj.pliant.role == "BODY" for obj in scene.objects)


def _draw():
    context = bpy.context
    scene = context.scene
    if scene is None or not _has_bodies(scene):
        return
    try:
        found = spans(scene)
    except OSError:
        return  # a folder that cannot be read shows nothing
    if not found:
        return
    import gpu
    from gpu_extras.batch import batch_for_shader

    view, scale = context.region.view2d, context.preferences.system.ui_scale
    low, high = FOOT * scale, (FOOT + HEIGHT) * scale
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    for first, after, colour in found:
        left = view.view_to_region(first - 0.5, 0, clip=False)[0]
        right = view.view_to_region(after - 0.5, 0, clip=False)[0]
        batch = batch_for_shader(shader, "TRI_FAN", {"pos": [(left, low), (right, low), (right, high), (left, high)]})
        shader.uniform_float("color", colour)
        batch.draw(shader)
    gpu.state.blend_set("NONE")


def register():
    global _handler
    if not bpy.app.background:
        _handler = bpy.types.SpaceDopeSheetEditor.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")


def unregister():
    global _handler
    if _handler is not None:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_handler, "WINDOW")
        _handler = None
