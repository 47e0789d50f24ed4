# SPDX-License-Identifier: GPL-3.0-or-later
"""A small shot made by hand: a cube that falls on a floor, partly painted and pinned."""

import support  # noqa: F401 - makes addon importable

from unittest import mock

import numpy as np
from addon import solver
from addon.bake import job as jobs
from addon.bake import shot as shots

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (1, 3)], np.float32)
FACES = np.array(
    [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (0, 5, 1),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
        (1, 5, 7),
        (1, 7, 3),
    ],
    np.uint32,
)


def material(**changes):
    return {"stiffness": 6.0, "damping": 1.0, "density": 1000.0, "goal": 0, **changes}


def body_frame(number, **changes):
    """The object turns and is stretched: results are local to that."""
    angle = 0.1 * number
    matrix = np.eye(4)
    matrix[:2, :2] = ((np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle)))
    matrix[:3, :3] *= (1.0, 2.0, 0.5)
    matrix[:3, 3] = (3.0, number, -1.0)
    return shots.BodyFrame(matrix, material(), **changes)


def frame(number, **changes):
    collider = shots.ColliderFrame((0.0, 0.0, 0.02 * number), (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    field = {"strength": 0.5 + 0.1 * number, "flow": 0.0}
    values = {
        "gravity": (0.0, 0.0, -9.81),
        "bodies": [body_frame(number)],
        "colliders": [collider],
        "fields": [field],
        **changes,
    }
    return shots.Frame(number, **values)


def run_until(job, number):
    """Runs a job that is cancelled inside the frame `number`."""
    advance = jobs.Recorder.advance

    def stopped(recorder, state):
        if state.number == number:
            job.cancel()
        advance(recorder, state)

    with mock.patch.object(jobs.Recorder, "advance", stopped):
        job.run()


def shot(start=1, end=24, **changes):
    body = shots.Body(
        "Cube",
        CUBE.copy(),
        FACES.copy(),
        {"sample": {"count": 300}},
        factors={"stiffness_factor": np.linspace(0.5, 1, 8, dtype=np.float32)},
        topology="cube",
    )
    values = {
        "scene": "Scene",
        "fps": 24.0,
        "origin": (0.0, 0.0, 0.0),
        "bodies": [body],
        "colliders": [shots.Collider("Floor", solver.Shape.PLANE)],
        "fields": [shots.Field("Wind", solver.FieldKind.WIND)],
        "frames": [frame(n) for n in range(start, end + 1)],
        "checkpoint_every": 5,
        **changes,
    }
    return shots.Shot(start=start, end=end, **values)
