# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers for saving, loading and undo.

Save As copies the cache. The path of a playback modifier must be valid in the file being written,
so the cache is copied, and the path set, before Blender writes. Afterwards, when the outcome is
known, the copy replaces the bake in its target folder, and paths are set as the open file needs
them; if the file could not be written, the target's bake stays. Blender rebases relative paths from
the old folder to the new one while it writes: a path relative to the old folder that leads to the
new cache comes out right.
"""

import contextlib
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ..bake import cache as caches
from ..bake import files
from ..bake.errors import BakeError, one_line
from . import folders, modifiers, overrides, runs

problems = []  # sentences on caches that the last save could not copy
_moved = []  # (old folder, new folder, a Copy; None: they are the same) of the running save
_kept = []  # folders whose bakes already belong to the file being saved


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
    """Both paths are one folder: only the paths are rewritten."""
    try:
        if not files.same(old, new) and caches.manifest.is_ours(new):
            folders.check_allowed(scene, path)
        copied = None if files.same(old, new) else caches.Copy(old, new)
    except (OSError, BakeError) as error:
        _tell(f"The bake in {old} could not be copied to {new}, so this file plays it from its old place: {error}")
        return
    _moved.append((old, new, copied))
    _point(old, new)


def _tell(sentence):
    problems.append(sentence)
    print(f"Pliant: {one_line(sentence)}")


def _drop():
    """Removes copies of a save that never ended."""
    for _, _, copied in _moved:
        if copied is not None:
            with contextlib.suppress(BakeError):
                copied.close()
    _moved.clear()


def _point(old, new):
    """Modifiers that play from one folder play from another."""
    found = [modifiers.find_playback(obj) for obj in bpy.data.objects if obj.library is None]
    read = [m for m in found if m is not None and m.type == "MESH_CACHE"]
    read += [c for c in bpy.data.cache_files if c.library is None]
    for user in read:
        if modifiers.is_in(user.filepath, old):
            path = new / Path(bpy.path.abspath(user.filepath)).name
            user.filepath = modifiers.blend_path(path)


def _saved(is_written):
    """The open file is now the new one, or (if a copy was saved, or none) still the old one."""
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
    """Finishes a copy; returns whether it is now its folder's bake."""
    try:
        with copied:
            if is_written:
                copied.switch()
        return is_written
    except BakeError as error:
        _tell(f"The bake in {copied.source} could not be copied to {copied.target}: {error} Save the file again.")
        return False


def _forget(folder):
    if not runs.any_running():  # a job may still be writing there
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
    runs.cancel_captures("Undo or redo stopped the bake while the scene was read. Bake again.")


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
