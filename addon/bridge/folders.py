# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a scene's cache is, and what is baked in it.

Beside the .blend: pliant_cache/<blend name>/<scene name>. A file that was never saved has its cache
in the temporary directory, a folder for each Blender that runs.
"""
import os
import re
import tempfile
from pathlib import Path

import bpy

from ..bake.cache import Cache, CacheError

ROOT_NAME = "pliant_cache"


def _safe(name):
    return re.sub(r"[^\w .-]+", "_", name).strip(" .") or "untitled"


def temporary_root():
    return Path(tempfile.gettempdir()) / f"pliant-{os.getpid()}"


def default_folder(blend_path, scene_name):
    """The folder for a .blend file's path ("": never saved) and a scene."""
    if not blend_path:
        return temporary_root() / _safe(scene_name)
    path = Path(blend_path)
    return path.parent / ROOT_NAME / _safe(path.stem) / _safe(scene_name)


def folder_of(scene):
    """The scene's cache folder, whether it is there or not."""
    if scene.pliant.folder:
        path = bpy.path.abspath(scene.pliant.folder)
        if path.startswith("//"):  # relative to a file that was never saved
            return temporary_root() / _safe(path[2:])
        return Path(path)
    return default_folder(bpy.data.filepath, scene.name)


def cache_of(scene):
    """The scene's Cache; None where nothing is baked. A CacheError where it cannot be used."""
    folder = folder_of(scene)
    return Cache.open(folder) if (folder / "bake.json").is_file() else None


_known = {}  # folder -> (marks of its files, baked range): panels and the timeline ask often


def baked_range(scene):
    """(first, last) frame that is baked and can be played, or None."""
    folder = folder_of(scene)
    try:
        marks = tuple((s.st_mtime_ns, s.st_size) for s in (
            os.stat(folder / "bake.json"), os.stat(folder / "frames" / "journal.plj")))
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
