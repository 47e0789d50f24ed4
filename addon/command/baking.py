# SPDX-License-Identifier: GPL-3.0-or-later
"""bake: capture, simulate, make results. Can be repeated, and stopped at any moment."""

import time

from ..bake import job as jobs
from ..bake import lock, plan
from ..bake.cache import INFO_NAME, Cache
from ..blender import folders
from ..blender.capture import capture
from ..blender.results import results
from . import failures, output, setting
from .failures import Failure, Interrupted
from .report import clock

LOOK = 0.05  # seconds between polls of the job
SAY_READING = 1.0  # seconds between lines while the scene is read


def bake(options, log, signals):
    scene = setting.open_scene(options)
    setting.apply(options, scene)
    folder = folders.folder_of(scene, options.quick is not None)
    folders.check_allowed(scene)
    lock.refuse(folder)  # now, not only after the whole scene was read
    results.before_bake(scene)
    shot = _read(scene, options, log, signals, folder)
    cache = _simulate(shot, folder, options.resume, log, signals)
    _show(scene, cache)
    kind = scene.pliant.output  # kind of result set in the file
    formats = {} if options.quick is not None else options.format or {output.format_name(kind): kind}
    if "pc2" not in formats:
        for body in cache.bodies:
            log.saved(cache.pc2_path(body))
    if formats:
        output.make_all(scene, [b.name for b in cache.bodies], formats, log, signals)
        for sentence in _follow(scene):
            log.warn(sentence)
    setting.save(options, scene, log)
    log.say(
        "done",
        f"Done: frames {cache.start} to {cache.end} are baked in {cache.folder}",
        folder=cache.folder,
        first=cache.start,
        last=cache.end,
    )


def _read(scene, options, log, signals, folder):
    """The Shot of a scene."""
    capturing = capture.Capture(scene, quick=options.quick)
    bodies = [obj.name for obj in capture.bodies(scene)]
    colliders = [obj.name for obj in capture.collider_objects(scene)]
    log.say(
        "start",
        f"Baking frames {capturing.start} to {capturing.end} of {', '.join(bodies)} "
        f"with {len(colliders)} colliders into {folder}",
        first=capturing.start,
        last=capturing.end,
        bodies=bodies,
        colliders=colliders,
        folder=folder,
    )
    said = time.monotonic()
    try:
        for number in capturing:
            signals.check()
            if time.monotonic() - said > SAY_READING:
                said = time.monotonic()
                log.say("reading", f"Reading frame {number} of {capturing.end}", frame=number)
    finally:
        capturing.release()
    return capturing.shot


def _simulate(shot, folder, resume, log, signals):
    """The finished Cache of a shot."""
    kind = plan.NEW
    if resume and (folder / INFO_NAME).is_file():
        kind = plan.RESUME
        cache = Cache.open(folder)
        if plan.is_finished(cache, shot):
            for sentence in shot.warnings:
                log.warn(sentence)
            log.say("baked", f"Frames {shot.start} to {shot.end} are baked already")
            return cache
    job = plan.make_job(folder, shot, kind)
    job.start()
    _watch(job, log, signals)
    for sentence in job.warnings:
        log.warn(sentence)
    if job.most_contacts is not None:
        count, frame = job.most_contacts
        log.say("contacts", f"At most {count} contacts, in frame {frame}", most=count, frame=frame)
    elif shot.pass_through:
        log.say("pass_through", "Bodies pass through each other: scene.use_contacts is off")
    for name, count in job.pieces.items():
        log.say("pieces", f"'{name}' is in {count} piece{'s' if count != 1 else ''}", object=name, pieces=count)
    if job.state == jobs.CANCELLED:
        if job.frame is None:
            raise Interrupted("Stopped before the first frame was finished: --resume starts from the beginning.")
        raise Interrupted(f"Stopped; frames {shot.start} to {job.frame} are kept, --resume continues from there.")
    if job.state == jobs.FAILED:
        raise Failure(failures.code_of(job.exception), job.error)
    return job.cache


def _watch(job, log, signals):
    """Prints a line for each frame until the job has ended."""
    begun = time.monotonic()
    first, last = job.shot.start, job.shot.end
    told = None if job.resume else first - 1  # kept frames are not reported again
    stage = ""
    while True:
        ended = job.wait(LOOK)
        if signals.received is not None:
            job.cancel()
        if job.state == jobs.BUILDING and job.stage != stage:
            stage = job.stage
            log.say("building", stage)
        reached = job.frame  # read once: the job's thread changes it
        if reached is not None and reached != told:
            start = reached if told is None else told + 1
            took = time.monotonic() - begun
            for frame in range(start, reached + 1):
                part = (frame - first + 1) / (last - first + 1)
                left = job.seconds_left
                log.say(
                    "frame",
                    f"Frame {frame} of {last} ({100 * part:.0f} %) | Time: "
                    f"{clock(took)}" + (f" | Left: {clock(left)}" if left else ""),
                    frame=frame,
                    last=last,
                    fraction=round(part, 4),
                    seconds=round(took, 2),
                    seconds_left=None if left is None else round(left, 1),
                    **_counts(job),
                )
            told = reached
        if ended:
            return


def _counts(job):
    found = {} if job.contacts is None else {"contacts": job.contacts}
    if job.pieces:
        found["pieces"] = sum(job.pieces.values())
    return found


def _show(scene, cache):
    for body in cache.bodies:
        obj = scene.objects.get(body.name)
        if obj is not None:
            results.show_bake(obj, cache, body)


def _follow(scene):
    """Updates meshes bound to the bodies, and particles, to the new bake."""
    kind, scene.pliant.output = scene.pliant.output, "PC2"  # for the bodies' own results
    try:
        return results.after_bake(scene, True)
    finally:
        scene.pliant.output = kind
