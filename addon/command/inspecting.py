# SPDX-License-Identifier: GPL-3.0-or-later
"""info: contents of a scene and its bake. cluster: clusters of bodies, and their colours."""

import json

import bpy
import numpy as np

from ..bake.cache import CacheError, safe_name
from ..bake.errors import file_error
from ..blender.settings import frame_range
from ..blender import folders
from ..blender.capture import capture, staleness
from ..preview import build, colours, gather
from ..solver import library
from . import failures, setting
from .failures import Failure, Interrupted


def info(options, log, signals):
    loaded = library.load()
    log.say(
        "library",
        f"Pliant's library {loaded.pliant_version().decode()} ({loaded.pliant_build_info().decode()})",
        path=loaded.pliant_path,
    )
    scene = setting.open_scene(options)
    start, end = frame_range(scene)
    log.say("scene", f"Scene '{scene.name}', frames {start} to {end}", scene=scene.name, first=start, last=end)
    for obj in capture.bodies(scene):
        own = obj.pliant
        log.say(
            "body",
            f"Body '{obj.name}': {own.material.preset or 'own material'}, "
            f"{len(obj.data.vertices)} vertices, {own.clusters.levels} level"
            f"{'s' if own.clusters.levels > 1 else ''}",
            object=obj.name,
            preset=own.material.preset,
            vertices=len(obj.data.vertices),
            levels=own.clusters.levels,
        )
    for obj in capture.collider_objects(scene):
        log.say(
            "collider",
            f"Collider '{obj.name}': {obj.pliant.collider.shape.lower()}",
            object=obj.name,
            shape=obj.pliant.collider.shape,
        )
    for obj in capture.bodies(scene) + capture.collider_objects(scene):
        for weld in obj.pliant.welds:
            other = weld.object.name if weld.object else None
            bears = f"up to {weld.strength:g} Pa" if weld.strength else "for ever"
            log.say(
                "weld",
                f"'{obj.name}' is welded to {repr(other) if other else 'nothing'} {bears}",
                object=obj.name,
                to=other,
                strength=weld.strength,
            )
    for quick in (False, True):
        _baked(scene, quick, log)


def _baked(scene, quick, log):
    folder = folders.folder_of(scene, quick)
    what = "quick bake" if quick else "bake"
    cache = folders.cache_of(scene, quick)
    if cache is None:
        if not quick:
            log.say("nothing", f"Nothing is baked in {folder}", folder=folder)
        return
    baked = cache.baked()
    text = "no frame is finished" if baked is None else f"frames {baked[0]} to {baked[1]}"
    if baked is not None and not cache.is_complete():
        text += f" of {cache.start} to {cache.end}"
    log.say(
        "baked",
        f"The {what} in {folder} has {text} of "
        f"{', '.join(body.name for body in cache.bodies)}, "
        f"{cache.bytes() / 1e6:.1f} MB",
        folder=folder,
        quick=quick,
        first=baked and baked[0],
        last=baked and baked[1],
        end=cache.end,
        complete=cache.is_complete(),
        bytes=cache.bytes(),
        bodies=[body.name for body in cache.bodies],
    )
    try:
        cache.check()
    except CacheError as error:
        log.warn(str(error))
    if not quick:
        _out_of_date(scene, cache, log)


def _out_of_date(scene, cache, log):
    try:
        found = staleness.changed(scene, cache)
    except capture.CaptureError as error:
        log.warn(f"Whether the bake is out of date cannot be told: {error}")
        return
    for what in found:
        log.say("outdated", f"The bake is out of date: {what} changed since", what=what)


def cluster(options, log, signals):
    scene = setting.open_scene(options)
    setting.apply(options, scene)
    scene.pliant.preview_level = max(0, min(options.level, 15))
    bpy.context.view_layer.update()
    request, refused = gather.request(scene, bpy.context.evaluated_depsgraph_get())
    if not request.sources:
        sentences = list(refused.values()) or ["There is no soft body in this scene"]
        raise Failure(failures.SCENE, sentences[0] + ".")
    request.sample = gather.sample(scene)
    builder = build.Builder(request).start()
    while not builder.done:
        builder.wait(0.1)
        if signals.received is not None:
            builder.cancel()
    if builder.cancelled:
        raise Interrupted("Stopped before the clusters were made.")
    if builder.error:
        raise Failure(failures.SIMULATION, builder.error)
    outcome = builder.outcome
    for name, sentence in {**refused, **outcome.errors}.items():
        log.warn(f"{name}: {sentence}")
    if not outcome.bodies:
        raise Failure(failures.SCENE, next(iter(outcome.errors.values())))
    for body in outcome.bodies:
        _tell(body, log)
    log.say(
        "estimate",
        f"{outcome.memory / 1e6:.1f} MB of memory, {outcome.substeps} substeps, "
        f"{outcome.frame_seconds:.2f} s a frame, {outcome.seconds:.0f} s and "
        f"{outcome.disk / 1e6:.0f} MB on disk for {outcome.frames} frames",
        memory=outcome.memory,
        substeps=outcome.substeps,
        frames=outcome.frames,
        frame_seconds=outcome.frame_seconds,
        disk=outcome.disk,
    )
    _paint(scene, outcome, log)
    if options.out is not None:
        _write(outcome, options.out.absolute(), log)
    setting.save(options, scene, log)


def _tell(body, log):
    levels = ", ".join(str(count) for count in body.level_clusters)
    log.say(
        "clusters",
        f"{body.name}: {len(body.particles)} particles {body.spacing:.3g} m apart, "
        f"{levels} clusters, {body.memberships} memberships",
        object=body.name,
        particles=len(body.particles),
        spacing=body.spacing,
        clusters=body.level_clusters,
        memberships=body.memberships,
    )
    for sentence in body.warnings:
        log.warn(f"{body.name}: {sentence}")


def _paint(scene, outcome, log):
    for body in outcome.bodies:
        problem = colours.paint(scene.objects[body.name].data, body.vertex_colours)
        if problem:
            log.warn(problem + ".")


def _write(outcome, folder, log):
    """Clusters of each body as arrays, and clusters.json with the numbers."""
    numbers = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for index, body in enumerate(outcome.bodies):
            path = folder / f"{safe_name(index, body.name)}.clusters.npz"
            np.savez_compressed(
                path,
                vertex_colours=body.vertex_colours,
                particles=body.particles,
                particle_colours=body.particle_colours,
                centres=body.centres,
                radii=body.radii,
                colours=body.colours,
                origin=np.array(outcome.origin),
            )
            log.saved(path)
            numbers[body.name] = {
                "file": path.name,
                "level": body.level,
                "particles": len(body.particles),
                "spacing": float(body.spacing),
                "clusters": list(map(int, body.level_clusters)),
                "memberships": int(body.memberships),
            }
        path = folder / "clusters.json"
        path.write_text(json.dumps(numbers, indent=1), encoding="utf-8")
        log.saved(path)
    except OSError as error:
        raise file_error(error, "write to", folder) from error
