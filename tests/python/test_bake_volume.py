# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose volume cannot be kept are baked without it, with a warning."""

import tempfile
import unittest
from pathlib import Path

import bake_scene
import numpy as np
from addon import solver
from addon.bake import job as jobs
from addon.bake import plan, shot
from addon.bake.formats import pc2

SHEET = bake_scene.FACES[8:10]  # two triangles of the cube


def frames(pressure, later=None):
    """Pressure from the first frame on, another from the fourth."""
    made = []
    for number in range(1, 13):
        value = later if later is not None and number >= 4 else pressure
        state = shot.BodyFrame(np.eye(4), bake_scene.material(pressure=value))
        made.append(bake_scene.frame(number, bodies=[state], fields=[]))
    return made


def sheet(*pressure):
    made = bake_scene.shot(1, 12, fields=[], frames=frames(*pressure))
    made.bodies[0].triangles = SHEET.copy()
    made.bodies[0].settings = {"sample": {"count": 150}}
    return made


class Volume(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def bake(self, made, name, kind=plan.NEW):
        job = plan.make_job(self.place / name, made, kind)
        job.run()
        self.assertEqual(job.state, jobs.DONE, job.error)
        return job, pc2.frames(job.cache.pc2_path(job.cache.bodies[0])).tobytes()

    def complaints(self, job):
        return [text for text in job.warnings if "keeps no volume: The mesh is open" in text]

    def test_told_once_and_like_none(self):
        without, bits = self.bake(sheet(0.0), "without")
        self.assertEqual(self.complaints(without), [])
        for name, pressure in (("always", (5e3,)), ("keyed", (5e3, 6e3)), ("later", (0.0, 5e3))):
            job, found = self.bake(sheet(*pressure), name)
            self.assertEqual(len(self.complaints(job)), 1, job.warnings)
            self.assertIn("'Cube'", self.complaints(job)[0])
            self.assertEqual(found, bits, name)

    def test_resumed_to_the_same_bits(self):
        _, whole = self.bake(sheet(5e3), "whole")
        part = plan.make_job(self.place / "part", sheet(5e3))
        bake_scene.run_until(part, 9)
        self.assertEqual(part.state, jobs.CANCELLED)
        job, found = self.bake(sheet(5e3), "part", plan.RESUME)
        self.assertEqual(found, whole)
        self.assertEqual(len(self.complaints(job)), 1, job.warnings)

    def test_other_refusals_stay(self):
        made = sheet(5e3)
        made.bodies[0].triangles = np.zeros((1, 3), np.uint32)
        job = plan.make_job(self.place / "none", made)
        job.run()
        self.assertEqual(job.state, jobs.FAILED)
        self.assertEqual(job.status, solver.Status.ERROR_MESH)
        self.assertNotIn("pressure", job.error)


if __name__ == "__main__":
    unittest.main()
