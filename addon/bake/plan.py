# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides what a shot and a cache folder need: a new bake, the rest of one, or a part of one again."""

from . import manifest
from .cache import Cache, make_folder
from .errors import BakeError
from .fingerprint import fingerprint
from .job import Job
from .lock import Lock

NEW, RESUME, REBAKE = "new", "resume", "rebake"


def make_job(folder, shot, kind=NEW, from_frame=None):
    """A Job that is ready to start. REBAKE discards the frames after the last checkpoint at or
    before `from_frame`, and continues there with the shot's settings. If that is not possible, a
    BakeError is raised and nothing is changed. The job has exclusive write access to the folder
    until it ends."""
    if kind == NEW:
        manifest.check_free(folder)
        make_folder(folder)
    else:
        Cache.open(folder)  # raises if there is none
    lock = Lock(folder)
    try:
        job = _make(folder, shot, kind, from_frame)
    except BaseException:
        lock.release()
        raise
    job.lock = lock
    return job


def is_finished(cache, shot):
    """Whether all of a shot is baked and nothing has changed since."""
    return (
        cache.end == shot.end and cache.is_complete() and not cache.fingerprint.difference(fingerprint(shot), shot.end)
    )


def _make(folder, shot, kind, from_frame):
    if kind == NEW:
        return Job(shot, Cache.create(folder, shot))
    cache = Cache.open(folder)
    baked = cache.baked()
    if baked is None:  # stopped before its first frame was recorded: nothing to keep
        return Job(shot, Cache.create(folder, shot))
    if kind == RESUME:
        return _resumed(cache, shot, baked)
    return _rebaked(cache, shot, baked, from_frame)


def _resumed(cache, shot, baked):
    changed = cache.fingerprint.difference(fingerprint(shot), min(baked[1], shot.end))
    if changed:
        raise BakeError(
            f"The bake cannot go on: {changed} is not what it was. Bake again, or rebake from the current frame."
        )
    if baked[1] >= shot.end and cache.is_complete(shot.end):
        raise BakeError(
            f"All frames up to {shot.end} are baked: there is nothing to resume. Bake again, or add frames at the end."
        )
    cache.adopt(shot)
    return Job(shot, cache, resume=True)


def _rebaked(cache, shot, baked, from_frame):
    if not baked[0] <= from_frame <= baked[1]:
        raise BakeError(
            f"Frame {from_frame} is not baked: frames {baked[0]} to {baked[1]} are. Go "
            f"to one of them to bake again from there."
        )
    changed = cache.fingerprint.difference(fingerprint(shot), shot.start - 1)
    if changed:
        raise BakeError(
            f"The bake cannot be taken up at frame {from_frame}: {changed} is not what "
            f"it was. Bake again from the start."
        )
    cache.adopt(shot)
    return Job(shot, cache, resume=True, from_frame=from_frame)
