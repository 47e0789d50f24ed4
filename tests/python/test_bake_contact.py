# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies rest on colliders with their mesh, not with the particles inside it."""
import tempfile
import unittest
from pathlib import Path

import bake_scene
import numpy as np
from addon import solver
from addon.bake import job as jobs
from addon.bake import pc2, plan, shot


def still(number):
    """The cube of bake_scene over a floor at zero, nothing else."""
    state = shot.BodyFrame(np.eye(4), bake_scene.material(stiffness=12.0, damping=6.0))
    floor = shot.ColliderFrame((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    return bake_scene.frame(number, bodies=[state], colliders=[floor], fields=[])


class Contact(unittest.TestCase):
    def test_mesh_touches_the_floor_and_goes_no_further(self):
        for count in (200, 1500):
            made = bake_scene.shot(1, 36, fields=[], frames=[still(n) for n in range(1, 37)])
            made.bodies[0].settings["sample"] = {"count": count}
            with tempfile.TemporaryDirectory() as folder:
                job = plan.make_job(Path(folder) / "cache", made)
                job.run()
                self.assertEqual(job.state, jobs.DONE, job.error)
                lowest = pc2.frames(job.cache.pc2_path(job.cache.bodies[0]))[:, :, 2].min()
            # without a margin it sinks in by .4 of this
            spacing = (8 / count) ** (1 / 3)
            self.assertLess(abs(lowest), .2 * spacing, count)

    def test_only_filled_bodies_have_a_margin(self):
        with solver.Scene(threads=1) as scene:
            solid = scene.add_body(bake_scene.CUBE, bake_scene.FACES, sample={"count": 300})
            self.assertGreater(jobs.contact_margin([solid]), .05)
            skin = scene.add_body(bake_scene.CUBE, bake_scene.FACES,
                                  sample={"count": 300, "mode": solver.Sampling.SURFACE})
            self.assertEqual(jobs.contact_margin([solid, skin]), 0)
            self.assertEqual(jobs.contact_margin([]), 0)


if __name__ == "__main__":
    unittest.main()
