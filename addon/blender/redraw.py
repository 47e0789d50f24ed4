# SPDX-License-Identifier: GPL-3.0-or-later
"""Redraws of panels."""

import bpy


def redraw_panels():
    """All panels, not the 3D view itself."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions:
                if area.type == "PROPERTIES" or area.type == "VIEW_3D" and region.type == "UI":
                    region.tag_redraw()


_redraws = []  # seconds until each that is to come


def _settle():
    redraw_panels()
    return _redraws.pop(0) if _redraws else None


def settle():
    """Panels that change their height find their places only in the redraw after the next one,
    which a mouse movement would cause. When Blender gets to the next one is not known, so
    several are requested."""
    _redraws[:] = [0.25, 0.5, 1.0]
    if not bpy.app.background and not bpy.app.timers.is_registered(_settle):
        bpy.app.timers.register(_settle, first_interval=0.25)


def register():
    pass


def unregister():
    if bpy.app.timers.is_registered(_settle):
        bpy.app.timers.unregister(_settle)
