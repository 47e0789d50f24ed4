# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies rest on colliders with their mesh, not with the particles inside it."""

import tempfile
import unittest
from pathlib import Path

import bake_scene
import numpy as np
from addon import solver
from addon.bake import job as jobs
from addon.bake import plan, shot, shot_scene
from addon.bake.formats import pc2


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
            self.assertLess(abs(lowest), 0.2 * spacing, count)

    def test_meshes_are_colliders(self):
        plate = np.array([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], np.float32)
        frames = []
        for number in range(1, 13):
            state = shot.ColliderMeshFrame(plate + np.float32((0, 0, 0.02 * number)))
            frames.append(bake_scene.frame(number, bodies=still(number).bodies, fields=[], colliders=[state]))
        sheet = shot.Collider("Sheet", solver.Shape.SHELL, triangles=np.array([(0, 1, 2), (0, 2, 3)], np.uint32))
        made = bake_scene.shot(1, 12, fields=[], colliders=[sheet], frames=frames)
        with tempfile.TemporaryDirectory() as folder:
            whole = plan.make_job(Path(folder) / "whole", made)
            whole.run()
            self.assertEqual(whole.state, jobs.DONE, whole.error)
            part = plan.make_job(Path(folder) / "part", made)
            bake_scene.run_until(part, 9)
            self.assertEqual(part.state, jobs.CANCELLED)
            rest = plan.make_job(Path(folder) / "part", made, plan.RESUME)
            rest.run()
            self.assertEqual(rest.state, jobs.DONE, rest.error)
            rows = [pc2.frames(j.cache.pc2_path(j.cache.bodies[0])).copy() for j in (whole, rest)]
        self.assertEqual(rows[0].tobytes(), rows[1].tobytes())
        self.assertGreater(rows[0][-1, :, 2].min(), 0.1)

    def test_a_collider_that_the_library_refuses_is_named(self):
        flat = shot.ColliderMeshFrame(np.zeros((3, 3), np.float32))
        thing = shot.Collider("Thing", solver.Shape.MESH, triangles=np.array([(0, 1, 2)], np.uint32))
        frames = [bake_scene.frame(n, fields=[], colliders=[flat]) for n in range(1, 4)]
        made = bake_scene.shot(1, 3, fields=[], colliders=[thing], frames=frames)
        with tempfile.TemporaryDirectory() as folder:
            job = plan.make_job(Path(folder) / "cache", made)
            job.run()
        self.assertEqual(job.state, jobs.FAILED)
        self.assertIn("'Thing'", job.error)

    def test_filled_bodies_and_skins_have_margins(self):
        with solver.Scene(threads=1) as scene:
            solid = scene.add_body(bake_scene.CUBE, bake_scene.FACES, sample={"count": 300})
            self.assertAlmostEqual(shot_scene.contact_margin([solid]), 0.4 * solid.info.spacing)
            skin = scene.add_body(
                bake_scene.CUBE, bake_scene.FACES, sample={"count": 300, "mode": solver.Sampling.SURFACE}
            )
            self.assertAlmostEqual(shot_scene.contact_margin([skin]), 0.2 * skin.info.spacing)
            self.assertEqual(
                shot_scene.contact_margin([solid, skin]), min(shot_scene.contact_margin([b]) for b in (solid, skin))
            )
            self.assertEqual(shot_scene.contact_margin([]), 0)


if __name__ == "__main__":
    unittest.main()
