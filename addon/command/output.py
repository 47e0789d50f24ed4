# SPDX-License-Identifier: GPL-3.0-or-later
"""export: results of a finished bake, without simulating. clear: deletes a bake from the disk."""

import os
import shutil
import tempfile
import time
from pathlib import Path

from ..bake import cache as caches
from ..bake import files
from ..bake.errors import BakeError, file_error
from ..blender import folders
from ..blender.results import results
from . import failures, setting
from .failures import Failure

ENDINGS = {"PC2": "pc2", "MDD": "mdd", "ALEMBIC": "abc"}


def format_name(kind):
    """Name of a kind of result on the command line."""
    return ENDINGS.get(kind, kind.lower())


def export(options, log, signals):
    scene = setting.open_scene(options)
    cache = results.open_cache(scene)
    names = options.objects
    if names is None:
        names = [] if options.bind else [body.name for body in cache.bodies]
    made = make_all(scene, names, options.format, log, signals)
    for text in options.bind:
        made += _bind(scene, cache, text, options.format, log, signals)
    if options.to is not None:
        _copy(made, options.to.absolute(), log)
    setting.save(options, scene, log)
    log.say("done", f"Done: exported {', '.join(options.format)} from {cache.folder}", folder=cache.folder)


def make_all(scene, names, formats, log, signals):
    """Results of bodies in formats {name: kind}; returns (path, name for people) of the files.
    Objects show the last one."""
    made = []
    for name in names:
        obj = setting.find_object(scene, name)
        for wanted, kind in formats.items():
            made += _make(
                scene, obj, wanted, kind, log, signals, lambda kind, **how: results.make(scene, obj, kind, **how)
            )
    return made


def _bind(scene, cache, text, formats, log, signals):
    mesh, equals, body = text.partition("=")
    if not equals:
        raise Failure(failures.USAGE, f"--bind {text}: give MESH=BODY.")
    obj = setting.find_object(scene, mesh)
    made = []
    for wanted, kind in formats.items():
        made += _make(
            scene, obj, wanted, kind, log, signals, lambda kind, **how: results.bind(scene, obj, body, kind, **how)
        )
    return made


def _make(scene, obj, wanted, kind, log, signals, function):
    signals.check()
    begun = time.monotonic()
    breaks = obj.pliant.role == "BODY" and obj.pliant.fracture.use_fracture
    if breaks and kind != "POINTS":
        log.say("cutting", f"Cutting '{obj.name}' along its cracks", object=obj.name)
    how = {"progress": signals.check}
    if kind == "SHAPE_KEYS":
        how["relative"] = wanted == "relative_keys"
    if kind == "ALEMBIC":
        how["reimport"] = False  # a file for other programs; the object plays its point cache
    try:
        told = function(kind, **how)
    except BakeError as error:
        code = failures.code_of(error)
        raise Failure(failures.EXPORT if code == failures.BAKE and kind == "ALEMBIC" else code, str(error)) from error
    for sentence in told:
        if sentence.startswith("Saved "):
            continue  # reported below, for farms
        if isinstance(sentence, results.Remark) and obj.pliant.result.is_cut:
            took = time.monotonic() - begun
            log.say("cut", f"{sentence} ({took:.1f} s)", object=obj.name, seconds=round(took, 1))
        else:
            log.warn(sentence)
    if kind not in ENDINGS:
        log.say("made", f"{obj.name}: {wanted}", object=obj.name, format=wanted)
        return []
    cache = results.open_cache(scene)
    body = results.body_for(scene, obj, cache)
    path = cache.folder / f"{results.stem_of(obj, body)}.{ENDINGS[kind]}"
    log.saved(path)
    return [(path, f"{caches.safe_name(0, obj.name)[3:]}.{ENDINGS[kind]}")]


def _copy(made, folder, log):
    """Copies files under their objects' names to the user's folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, name in made:
            # atomically
            with tempfile.TemporaryDirectory(dir=folder, prefix="pliant-") as place:
                shutil.copyfile(path, Path(place, name))
                files.sync(Path(place, name))
                os.replace(Path(place, name), folder / name)
            log.saved(folder / name)
    except OSError as error:
        raise file_error(error, "write to", folder) from error


def clear(options, log, signals):
    scene = setting.open_scene(options)
    cleared = False
    for folder in results.clear(scene):
        log.say("cleared", f"Cleared {folder}", folder=folder)
        cleared = True
    if not cleared:
        folder = folders.folder_of(scene, False)
        log.say("cleared", f"Nothing is baked in {folder}", folder=folder)
    setting.save(options, scene, log)
