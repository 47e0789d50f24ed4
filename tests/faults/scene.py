# SPDX-License-Identifier: GPL-3.0-or-later
"""A small shot with two bodies: one is torn apart, the other flows."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import bake_scene
import harness
import numpy as np
from addon.bake import job as jobs
from addon.bake import lock, plan
from addon.bake import shot as shots
from addon.bake.cache import INFO_NAME, Cache

BAR = bake_scene.CUBE * np.array([1.0, 0.2, 0.2], np.float32)


def _ends(speed):
    """Where the ends of a bar are pulled to at a frame."""
    return lambda number: (BAR * np.array([1.0 + speed * (number - 1), 1, 1])).astype(np.float32)


def shot(end=6, count=90, checkpoint_every=2):
    kinds = (
        ("Torn", _ends(0.25), bake_scene.material(stiffness=30.0), {"toughness": 0.06}),
        ("Flowing", _ends(0.04), bake_scene.material(stiffness=14.0, **{"yield": 0.02, "flow": 40.0}), None),
    )
    bodies = [
        shots.Body(
            name,
            BAR.copy(),
            bake_scene.FACES.copy(),
            {"sample": {"count": count}, "cluster": {"count": 12}},
            pins=np.ones(8, np.float32),
            pin_frequency=20.0,
            pin_exact=True,
            topology="bar",
        )
        for name, _, _, _ in kinds
    ]
    frames = [
        shots.Frame(
            n,
            (0.0, 0.0, 0.0),
            [
                shots.BodyFrame(
                    np.eye(4), material, pin_vertices=ends(n), **({"fracture": fracture} if fracture else {})
                )
                for _, ends, material, fracture in kinds
            ],
            [],
            [],
        )
        for n in range(1, end + 1)
    ]
    return shots.Shot(
        "Scene", 24.0, 1, end, (0.0, 0.0, 0.0), bodies, frames=frames, checkpoint_every=checkpoint_every, threads=1
    )


def bake(folder, made):
    """As the command line's bake --resume: the job's error, or None."""
    kind = plan.NEW
    if (Path(folder) / INFO_NAME).is_file():
        kind = plan.RESUME
        if plan.is_finished(Cache.open(folder), made):
            return None
    job = plan.make_job(folder, made, kind)
    job.run()
    return None if job.state == jobs.DONE else job.error


def results(folder):
    """Everything that a bake leaves behind, but for the lock of one that was killed."""
    found = {name: harness.plain(name, data) for name, data in harness.contents(folder, leave_out=lock.NAME).items()}
    with Cache.open(folder).open_store() as store:
        store.verify()
    return found
