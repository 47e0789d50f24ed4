# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether bakes are out of date, for panels and the timeline.

Blender's update handlers only set a dirty flag. A timer compares the scene after a moment without
changes, never while a bake runs or an animation plays. Panels show the latest result.
"""

import os
import time

import bpy
from bpy.app.handlers import persistent

from ..bake.cache import INFO_NAME, CacheError
from ..blender import folders, redraw, runs
from ..blender.capture import capture, staleness

CALM = 0.4  # seconds without a change before the scene is compared
_answers = {}  # scene name -> (mark of its bake, sentences)
_meshes = {}  # hashes of meshes that were not edited since: see staleness.py
_touched = {}  # scene name -> time of the latest change
_looking = False


def of(scene):
    """The latest result: sentences; none where the bake is up to date or there is none."""
    known = _answers.get(scene.name)
    return known[1] if known is not None and known[0] == _bake_mark(scene) else []


def sentence(scene):
    """The same in one line, or None."""
    found = of(scene)
    if not found:
        return None
    more = f" and {len(found) - 2} more" if len(found) > 2 else ""
    return f"Out of date: {'; '.join(found[:2])}{more} changed since the bake"


def look(scene):
    """Compares now."""
    global _looking
    mark = _bake_mark(scene)
    if mark is None:
        _answers.pop(scene.name, None)
        return []
    _looking = True
    try:
        found = staleness.outdated(scene, folders.cache_of(scene), _meshes)
    except capture.CaptureError:
        return of(scene)  # for instance in edit mode
    except (CacheError, OSError):
        found = []
    finally:
        _looking = False
    _answers[scene.name] = mark, found
    return found


def _bake_mark(scene):
    """Identifies the scene's bake: changes with every bake; None: there is none."""
    folder = folders.folder_of(scene)
    try:
        return str(folder), os.stat(folder / INFO_NAME).st_mtime_ns
    except OSError:
        return None


# ---------------------------------------------------------------- update handlers and the timer


@persistent
def _changed(scene, graph=None):
    if _looking:
        return
    for update in graph.updates if graph is not None else ():
        if isinstance(update.id, bpy.types.Mesh):
            _meshes.pop(update.id.original.name_full, None)
    _note(scene)


@persistent
def _all_changed(*_):
    _meshes.clear()
    for scene in bpy.data.scenes:
        _note(scene)


def _note(scene):
    if bpy.app.background:
        return  # without a window the caller uses look()
    _touched[scene.name] = time.monotonic()
    if not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=CALM)


def _tick():
    """Timer callback: seconds until the next call, or None."""
    if not _touched:
        return None
    windows = bpy.context.window_manager.windows if bpy.context.window_manager else ()
    if runs.any_running() or any(w.screen.is_animation_playing for w in windows):
        return 2 * CALM
    calm = time.monotonic() - CALM
    for name in [name for name, when in _touched.items() if when <= calm]:
        del _touched[name]
        scene = bpy.data.scenes.get(name)
        if scene is not None:
            before = of(scene)
            if look(scene) != before:
                _redraw()
    return CALM if _touched else None


def _redraw():
    redraw.redraw_panels()
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "DOPESHEET_EDITOR":
                area.tag_redraw()


_HANDLERS = {
    "depsgraph_update_post": _changed,
    "frame_change_post": _changed,
    "load_post": _all_changed,
    "undo_post": _all_changed,
    "redo_post": _all_changed,
}


def register():
    for name, function in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(function)


def unregister():
    for name, function in _HANDLERS.items():
        listed = getattr(bpy.app.handlers, name)
        if function in listed:
            listed.remove(function)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    for kept in (_answers, _meshes, _touched):
        kept.clear()
