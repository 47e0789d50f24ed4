# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles and clusters drawn over the viewport. Nothing is drawn without a window.

Clusters are circles that face the view: the outline of a sphere, at a fraction of the cost of
drawing spheres.
"""

import bpy
import numpy as np
from mathutils import Matrix

from ..blender import compat
from . import proxies

SEGMENTS = 40
MOST_CIRCLES = 1500
MOST_POINTS = 200_000
_handler = None
_batches = {}  # body's name -> (key of its input, batch)
_source = None  # () -> (settings, [(Shown, matrix)]) or None


def start(source):
    """Draws what source() gives until stop(): (scene's settings, origin, [(Shown, Matrix)])."""
    global _handler, _source
    _source = source
    if _handler is None and not bpy.app.background:
        _handler = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")


def stop():
    global _handler, _source
    _source = None
    _batches.clear()
    if _handler is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handler, "WINDOW")
        _handler = None


def is_drawing():
    return _handler is not None


def redraw():
    if bpy.app.background:
        return
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _draw():
    shown = _source() if _source else None
    if not shown or not bpy.context.space_data.overlay.show_overlays:
        return
    import gpu

    settings, bodies = shown
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    gpu.state.depth_mask_set(False)
    if settings.preview_proxies:
        _draw_all_proxies(bodies, settings.preview_opacity)
    for body, matrix in bodies:
        with gpu.matrix.push_pop():
            gpu.matrix.multiply_matrix(matrix)
            if settings.preview_spheres:
                _draw_circles(body, matrix, settings.preview_opacity)
            if settings.preview_particles:
                _draw_points(body, settings.preview_opacity)
    gpu.state.depth_mask_set(True)
    gpu.state.blend_set("NONE")


def _draw_all_proxies(bodies, opacity):
    """Draws shaded triangles with depth test."""
    import gpu

    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    for body, matrix in bodies:
        if body.proxies is not None:
            with gpu.matrix.push_pop():
                gpu.matrix.multiply_matrix(matrix)
                _draw_proxies(body, opacity)
    gpu.state.depth_test_set("NONE")
    gpu.state.depth_mask_set(False)


def _draw_proxies(body, opacity):
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("SMOOTH_COLOR")

    def make():
        shown = body.proxies
        corners, light, whose = proxies.corners(shown.centres[: len(shown.reach)], shown.reach, shown.visible)
        colours = (shown.colours[whose, None] * light[:, :, None]).reshape(-1, 3)
        return batch_for_shader(
            shader,
            "TRIS",
            {
                "pos": np.ascontiguousarray(corners.reshape(-1, 3), np.float32),
                "color": _with_alpha(colours, min(1.0, 0.2 + 1.6 * opacity)),
            },
        )

    _kept("proxies", body, (body.serial, opacity), make).draw(shader)


def _kept(kind, body, made_from, make):
    """The batch of a body, rebuilt only if its input has changed."""
    key = (kind, body.name)
    found = _batches.get(key)
    if found is None or found[0] != made_from:
        found = _batches[key] = (made_from, make())
    return found[1]


def _with_alpha(colours, alpha):
    rows = np.empty((len(colours), 4), np.float32)
    rows[:, :3], rows[:, 3] = colours, alpha
    return rows


def _draw_points(body, opacity):
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin(compat.point_shader(uniform=False))

    def make():
        step = -(-len(body.particles) // MOST_POINTS)
        return batch_for_shader(
            shader,
            "POINTS",
            {
                "pos": np.ascontiguousarray(body.particles[::step], np.float32),
                "color": _with_alpha(body.particle_colours[::step], min(1.0, 0.25 + 0.75 * opacity)),
            },
        )

    gpu.state.point_size_set(2.5 * bpy.context.preferences.system.ui_scale)
    _kept("points", body, (body.serial, opacity), make).draw(shader)


def circles(centres, radii, right, up):
    """The ends of every segment, (n * SEGMENTS * 2, 3)."""
    turns = np.linspace(0, 2 * np.pi, SEGMENTS + 1)
    ring = np.cos(turns)[:, None] * right + np.sin(turns)[:, None] * up
    ends = np.stack([ring[:-1], ring[1:]], axis=1).reshape(-1, 3)
    return (centres[:, None] + radii[:, None, None] * ends).reshape(-1, 3)


def _draw_circles(body, matrix, opacity):
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("FLAT_COLOR")
    turn = (bpy.context.region_data.view_matrix @ matrix).to_3x3().inverted_safe()
    right, up = (np.array(turn.col[i].normalized(), np.float32) for i in (0, 1))

    def make():
        count = min(MOST_CIRCLES, len(body.centres))
        ends = circles(body.centres[:count], body.radii[:count], right, up)
        colours = np.repeat(_with_alpha(body.colours[:count], 0.75 * opacity), SEGMENTS * 2, axis=0)
        return batch_for_shader(shader, "LINES", {"pos": ends.astype(np.float32), "color": colours})

    gpu.state.line_width_set(1.0)
    made_from = (body.serial, opacity, tuple(right.round(5)), tuple(up.round(5)))
    _kept("circles", body, made_from, make).draw(shader)


def placed(body, origin, matrix_now):
    """Matrix of a body: it was built at its object's old position, relative to origin."""
    old = Matrix(body.matrix.tolist())
    return matrix_now @ old.inverted_safe() @ Matrix.Translation(origin)
