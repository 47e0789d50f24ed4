# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps an eye on whether bakes are out of date, for panels and the timeline.

Blender tells when something was changed; that only makes a note. A timer looks at the scene when
nothing has changed for a moment, and never while a bake is running or an animation is playing.
Panels show what was found last.
"""

import os
import time

import bpy
from bpy.app.handlers import persistent

from ..bake.cache import INFO_NAME, CacheError
from ..blender import folders, redraw, runs
from ..blender.capture import capture, staleness

CALM = 0.4  # seconds without a change before a look
_answers = {}  # scene name -> (mark of its bake, sentences)
_meshes = {}  # hashes of meshes that were not edited since: see sources.mark()
_touched = {}  # scene name -> when
_looking = False


def of(scene):
    """What was found last: sentences, none where the bake is up to date or there is none."""
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
    """Looks now."""
    global _looking
    mark = _bake_mark(scene)
    if mark is None:
        _answers.pop(scene.name, None)
        return []
    _looking = True
    try:
        found = staleness.outdated(scene, folders.cache_of(scene), _meshes)
    except capture.CaptureError:
        return of(scene)  # in edit mode, say
    except (CacheError, OSError):
        found = []
    finally:
        _looking = False
    _answers[scene.name] = mark, found
    return found


def _bake_mark(scene):
    """Another one with every bake; None: there is none."""
    folder = folders.folder_of(scene)
    try:
        return str(folder), os.stat(folder / INFO_NAME).st_mtime_ns
    except OSError:
        return None


# ---------------------------------------------------------------- when


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
        return  # who asks there calls look()
    _touched[scene.name] = time.monotonic()
    if not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=CALM)


def _tick():
    """A timer's: seconds until the next, or None."""
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
