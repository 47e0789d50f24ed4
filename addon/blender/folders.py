# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache folder of a scene, and the bake in it.

Beside the .blend file: pliant_cache/<blend name>/<scene name>. A file that was never saved has its
cache in Blender's temporary directory, which Blender deletes. A quick bake has a folder of its own
beside it.
"""

import contextlib
import os
import re
import zlib
from pathlib import Path

import bpy

from ..bake.cache import Cache, CacheError
from ..bake.errors import BakeError

ROOT_NAME = "pliant_cache"
QUICK_SUFFIX = "-quick"
_unsaved = 0  # counter of files that were never saved
_allowed = set()  # folders outside of the .blend file's own that the user has set or confirmed
_typing = True  # whether a folder is set by the user, not by a file


class OutsideError(BakeError):
    """A sentence on a cache folder that a file names and the user has not confirmed."""


def _safe(name):
    """A valid folder name for any name; a changed name stays unique."""
    safe = re.sub(r"[^\w .-]+", "_", name).strip(" .")[:100]
    return safe if safe == name else f"{safe}-{zlib.crc32(name.encode()):08x}"


def new_file():
    """Another file is about to be opened: it must not use the caches of the last unsaved one."""
    global _unsaved
    _unsaved += 1
    _allowed.clear()


def temporary_root():
    return Path(bpy.app.tempdir) / "pliant" / str(_unsaved)


def is_temporary(folder):
    return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(bpy.app.tempdir) + "/pliant")


def folder_in(blend_path, scene, quick=False):
    """The cache folder that a scene would have if its .blend file were at a path ("": never saved)."""
    own = scene.pliant.folder
    if own and not own.startswith("//"):
        folder = Path(own)
    elif not blend_path:
        folder = temporary_root() / _safe(own[2:] or scene.name)
    elif own:
        folder = Path(bpy.path.abspath(own, start=str(Path(blend_path).parent)))
    else:
        path = Path(blend_path)
        folder = path.parent / ROOT_NAME / _safe(path.stem) / _safe(scene.name)
    return folder.with_name(folder.name + QUICK_SUFFIX) if quick else folder


def folder_of(scene, quick=False):
    """The scene's cache folder, whether it exists or not."""
    return folder_in(bpy.data.filepath, scene, quick)


def cache_of(scene, quick=False):
    """The scene's Cache, or None if nothing is baked. A CacheError if it cannot be used."""
    folder = folder_of(scene, quick)
    return Cache.open(folder) if (folder / "bake.json").is_file() else None


# ---------------------------------------------------------------- untrusted files


@contextlib.contextmanager
def not_typed():
    """Cache folders that are set within the block come from the file, not from the user."""
    global _typing
    before, _typing = _typing, False
    try:
        yield
    finally:
        _typing = before


def loading(is_on):
    """Called before a file is loaded: folders are set by the file from here on."""
    global _typing
    _typing = not is_on


def typed(scene):
    """Update callback of the scene's cache folder."""
    if _typing:
        allow(scene)


def allow(scene):
    """The user has set or confirmed the scene's cache folder: bakes may be made and deleted there
    until another file is opened."""
    _allowed.update(os.path.realpath(folder_of(scene, quick)) for quick in (False, True))


def is_outside(scene, blend_path=None):
    """Whether the cache folder is outside of the .blend file's own and not confirmed by the user,
    for a .blend file at a path. A link beside the .blend file can lead outside, too."""
    blend_path = bpy.data.filepath if blend_path is None else blend_path
    folder = os.path.realpath(folder_in(blend_path, scene))
    if folder in _allowed or is_temporary(Path(folder)):
        return False
    own = blend_path and os.path.realpath(os.path.dirname(blend_path))
    return not (own and Path(folder).is_relative_to(own))


def check_allowed(scene, blend_path=None):
    """Raises an OutsideError if the folder must not be written to, for a .blend file at a path."""
    if is_outside(scene, blend_path):
        folder = folder_in(bpy.data.filepath if blend_path is None else blend_path, scene)
        real = os.path.realpath(folder)
        leads = "" if real == os.path.abspath(folder) else f" (it leads to {real})"
        raise OutsideError(
            f"Cache Folder is {folder}{leads}, which comes with the .blend file and is outside of its "
            f"folder: nothing is written or deleted there. Confirm it in Blender, set Cache Folder "
            f"yourself, or use --allow-outside on the command line."
        )


_known = {}  # folder -> (marks of its files, baked range): panels and the timeline ask at every redraw


def baked_range(scene, quick=False):
    """(first, last) frame that is baked and can be played, or None."""
    folder = folder_of(scene, quick)
    try:
        marks = tuple(
            (s.st_mtime_ns, s.st_size)
            for s in (os.stat(folder / "bake.json"), os.stat(folder / "frames" / "journal.plj"))
        )
    except OSError:
        return None
    known = _known.get(folder)
    if known is None or known[0] != marks:
        try:
            found = Cache.open(folder).baked()
        except CacheError:
            found = None
        known = _known[folder] = (marks, found)
    return known[1]
