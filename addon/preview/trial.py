# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a bake will take, from its first frames: they are read as a bake reads them, simulated
with all that is in the scene and written, to a folder that goes. No bpy in here."""
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ..bake import job as jobs
from ..bake import plan

TRIAL_SECONDS = 1.0  # of simulating them
LOOK = .01  # seconds between looks
CUT_SECONDS = 1.2e-4  # a face of a mesh that is cut along its cracks, on one core of 2020


@dataclass
class Sample:
    """The first frames of a bake."""
    shot: object
    reading: float  # seconds a frame
    cutting: float  # seconds, if bodies break


def pace(sample, progress=lambda: False):
    """Seconds a frame of the latest of the first frames; None: there were too few."""
    seen = []
    with tempfile.TemporaryDirectory(prefix="pliant-trial-") as folder:
        job = plan.make_job(Path(folder, "bake"), sample.shot, plan.NEW)
        job.start()
        until = None
        while not job.wait(LOOK):
            now, frame = time.perf_counter(), job.frame
            if frame is not None and (not seen or seen[-1][1] != frame):
                until = until or now + TRIAL_SECONDS
                seen.append((now, frame))
            if progress() or until is not None and now > until:
                job.cancel()
        if job.state == jobs.DONE:
            seen.append((time.perf_counter(), sample.shot.end))
    if len(seen) < 2:
        return None
    middle = seen[min(len(seen) // 2, len(seen) - 2)]
    frames = seen[-1][1] - middle[1]
    return (seen[-1][0] - middle[0]) / frames if frames > 0 else None
