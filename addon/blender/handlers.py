# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens around saving, loading and undo.

Save As takes the cache along. A playback modifier's path has to be right in the file that is being
written, so the cache is copied, and the path set, before Blender writes; afterwards, when it is
known what became of it, the copy takes the place of the bake that was there, and paths are set as the
file now open needs them. If the file could not be written, that bake stays. Blender rebases relative
paths from the old folder to the new one while it writes: a path that is relative to the old folder
and leads to the new cache comes out right.
"""

import contextlib
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ..bake import cache as caches
from ..bake import files
from ..bake.errors import BakeError, one_line
from . import folders, modifiers, overrides, runs

problems = []  # sentences on caches that the last save could not take along
_moved = []  # (old folder, new folder, a Copy; None: they are one) of the save that is going on
_kept = []  # folders whose bakes belong to the file that is being saved already


@contextlib.contextmanager
def kept(*folders_of_file):
    """A save within the block copies no bake into these folders."""
    _kept[:] = folders_of_file
    try:
        yield
    finally:
        _kept.clear()


@persistent
def _load_pre(*_):
    runs.stop_all()
    folders.new_file()
    folders.loading(True)


@persistent
def _load_post(*_):
    folders.loading(False)
    overrides.give_back()


@persistent
def _load_post_fail(*_):
    folders.loading(False)


@persistent
def _save_pre(path, *_):
    runs.release_captures()
    overrides.keep()
    _drop()
    problems.clear()
    if not isinstance(path, str) or not path or not bpy.data.scenes:
        return
    for scene in bpy.data.scenes:
        for quick in (False, True):
            old = folders.folder_of(scene, quick)
            new = folders.folder_in(path, scene, quick)
            if old != new and new not in _kept and (old / caches.INFO_NAME).is_file():
                _take_along(scene, path, old, new)


def _take_along(scene, path, old, new):
    """Two spellings of one folder: only paths are written anew."""
    try:
        if not files.same(old, new) and caches.manifest.is_ours(new):
            folders.check_allowed(scene, path)
        copied = None if files.same(old, new) else caches.Copy(old, new)
    except (OSError, BakeError) as error:
        _tell(f"The bake in {old} could not be copied to {new}, so this file plays it from where it was: {error}")
        return
    _moved.append((old, new, copied))
    _point(old, new)


def _tell(sentence):
    problems.append(sentence)
    print(f"Pliant: {one_line(sentence)}")


def _drop():
    """Copies of a save that never ended."""
    for _, _, copied in _moved:
        if copied is not None:
            with contextlib.suppress(BakeError):
                copied.close()
    _moved.clear()


def _point(old, new):
    """What plays from one folder plays from another."""
    found = [modifiers.find_playback(obj) for obj in bpy.data.objects if obj.library is None]
    read = [m for m in found if m is not None and m.type == "MESH_CACHE"]
    read += [c for c in bpy.data.cache_files if c.library is None]
    for user in read:
        if modifiers.is_in(user.filepath, old):
            path = new / Path(bpy.path.abspath(user.filepath)).name
            user.filepath = modifiers.blend_path(path)


def _saved(is_written):
    """The file that is open now is the new one, or (a copy was saved, or none) still the old one."""
    moved, _moved[:] = list(_moved), []
    places = {folders.folder_of(scene, quick) for scene in bpy.data.scenes for quick in (False, True)}
    for old, new, copied in moved:
        is_there = copied is None or _settle(copied, is_written)
        if new in places and is_there:
            _point(new, new)
            if folders.is_temporary(old) and not files.same(old, new):
                _forget(old)
        else:
            _point(new, old)


def _settle(copied, is_written):
    """Ends a copy; whether it is the bake of its folder now."""
    try:
        with copied:
            if is_written:
                copied.switch()
        return is_written
    except BakeError as error:
        _tell(f"The bake in {copied.source} could not be copied to {copied.target}: {error} Save the file again.")
        return False


def _forget(folder):
    if not runs.any_running():  # a job may be writing there yet
        try:
            caches.clear(folder)
        except (OSError, BakeError):
            pass  # Blender removes its temporary directory anyway


@persistent
def _save_post(*_):
    _saved(True)


@persistent
def _save_post_fail(*_):
    _saved(False)


@persistent
def _undone(*_):
    runs.cancel_captures("Undo or redo stopped the bake while the scene was read.")


_HANDLERS = {
    "load_pre": _load_pre,
    "load_post": _load_post,
    "load_post_fail": _load_post_fail,
    "save_pre": _save_pre,
    "save_post": _save_post,
    "save_post_fail": _save_post_fail,
    "undo_post": _undone,
    "redo_post": _undone,
}


def register():
    for name, function in _HANDLERS.items():
        if hasattr(bpy.app.handlers, name):
            getattr(bpy.app.handlers, name).append(function)


def unregister():
    for name, function in _HANDLERS.items():
        listed = getattr(bpy.app.handlers, name, [])
        if function in listed:
            listed.remove(function)
