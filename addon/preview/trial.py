# SPDX-License-Identifier: GPL-3.0-or-later
"""Estimates the duration of a bake from its first frames: they are read as in a bake, simulated
with everything in the scene, and written to a temporary folder. Does not import bpy."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ..bake import job as jobs
from ..bake import plan

TRIAL_SECONDS = 1.0  # of simulating them ...
LEAST_FRAMES, MOST_SECONDS = 8, 4.0  # ... and at least so many, unless it takes longer
LOOK = 0.01  # seconds between polls


@dataclass
class Sample:
    """The first frames of a bake."""

    shot: object
    first: float  # seconds for reading the first frame, which takes longer
    reading: float  # seconds a frame after it
    cutting: float  # seconds, if bodies break


def pace(sample, progress=lambda: False):
    """Seconds a frame of the latest of the first frames; None: there were too few. One-time work,
    as building trees, is in the first frame."""
    seen = []
    with tempfile.TemporaryDirectory(prefix="pliant-trial-") as folder:
        job = plan.make_job(Path(folder, "bake"), sample.shot, plan.NEW)
        job.start()
        began = None
        while not job.wait(LOOK):
            now, frame = time.perf_counter(), job.frame
            if frame is not None and (not seen or seen[-1][1] != frame):
                began = began or now
                seen.append((now, frame))
            if progress() or began is not None and _is_enough(now - began, frame, sample):
                job.cancel()
        if job.state == jobs.DONE and (not seen or seen[-1][1] != sample.shot.end):
            seen.append((time.perf_counter(), sample.shot.end))
    later = [one for one in seen if one[1] > sample.shot.start] or seen
    if len(later) < 2:
        return None
    from_ = later[min(len(later) // 2, len(later) - 2)]
    frames = later[-1][1] - from_[1]
    return (later[-1][0] - from_[0]) / frames if frames > 0 else None


def _is_enough(seconds, frame, sample):
    return seconds > MOST_SECONDS or seconds > TRIAL_SECONDS and frame - sample.shot.start >= LEAST_FRAMES
