# SPDX-License-Identifier: GPL-3.0-or-later
"""Surface properties, moving surfaces, welds and sleep: from a shot to the bake."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import bake_scene
import numpy as np
from addon.bake import job as jobs
from addon.bake import plan, shot
from addon.bake.formats import pc2
from addon.bake.fingerprint import fingerprint

STIFF = bake_scene.material(stiffness=14.0, damping=6.0)
TURN = (1.0, 0.0, 0.0, 0.0)


def row(end=24, count=1, floor=0.0, welds=(), sleep=None, surfaces=None, runs=None, moves=0.0):
    """Cubes in a row along y on a floor, which moves along x by so much a frame."""
    bodies = [
        shot.Body(
            f"Cube {i}",
            bake_scene.CUBE + np.float32((0, 4 * i, -0.95)),
            bake_scene.FACES,
            {"sample": {"count": 300}},
            topology="cube",
        )
        for i in range(count)
    ]
    surfaces = surfaces or [None] * count
    frames = [
        bake_scene.frame(
            n,
            fields=[],
            sleep=sleep,
            colliders=[shot.ColliderFrame((moves * (n - 1), 0.0, floor), TURN, (1.0, 1.0, 1.0), runs=runs)],
            bodies=[shot.BodyFrame(np.eye(4), STIFF, surface=s) for s in surfaces],
        )
        for n in range(1, end + 1)
    ]
    return bake_scene.shot(1, end, bodies=bodies, fields=[], frames=frames, welds=list(welds))


class Surfaces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def bake(self, made, name="cache", kind=plan.NEW):
        job = plan.make_job(self.folder / name, made, kind)
        job.run()
        self.assertEqual(job.state, jobs.DONE, job.error)
        return job

    def places(self, job):
        """(body, frame, 3): the mean of each mesh."""
        return [pc2.frames(job.cache.pc2_path(body)).mean(axis=1) for body in job.cache.bodies]

    def test_a_belt_drags_all_but_what_is_slippery(self):
        runs = ((2.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        job = self.bake(row(60, 2, runs=runs, surfaces=[None, (0.0, 0.0, 0.0)]))
        dragged, slippery = (np.diff(place[:, 0]) * 24 for place in self.places(job))
        self.assertAlmostEqual(dragged[-12:].mean(), 2, delta=0.1)
        self.assertAlmostEqual(slippery[-6:].mean(), 0, delta=0.01)

    def test_welds_hold_until_they_tear(self):
        """A floor that is far below is not touched; one that slides takes along what sticks."""
        held = shot.Weld("Cube 0", "Floor")
        made = row(24, 2, welds=[held], moves=0.1, surfaces=[(0.0, 0.0, 0.0)] * 2)
        first, second = (place[-1, 0] - place[0, 0] for place in self.places(self.bake(made)))
        self.assertAlmostEqual(first, 2.3, delta=0.25)
        self.assertAlmostEqual(second, 0, delta=0.02)
        weak = replace(made, welds=[replace(held, strength=1.0)])
        self.assertLess(self.places(self.bake(weak, "weak"))[0][-1, 0], 0.5)
        far = self.bake(row(2, 1, welds=[held], floor=-9.0), "far")
        self.assertIn("'Cube 0' does not touch 'Floor' at the first frame: nothing is welded.", far.warnings)

    def test_settled_bodies_sleep(self):
        made = row(40, sleep=(2.0, 0.25))
        (place,) = self.places(self.bake(made))
        self.assertEqual(np.abs(np.diff(place[-6:], axis=0)).max(), 0)
        (awake,) = self.places(self.bake(row(40), "awake"))
        self.assertGreater(np.abs(np.diff(awake[-6:], axis=0)).max(), 0)

    def test_a_bake_that_goes_on_comes_to_the_same(self):
        runs = ((0.0, 0.5, 0.0), (0.0, 0.0, 0.5), (1.0, 0.0, 0.0))
        makers = {
            "sleep": lambda: row(40, sleep=(2.0, 0.25)),
            "welds": lambda: row(16, 2, welds=[shot.Weld("Cube 1", "Floor", 9000.0)], moves=0.1),
            "belt": lambda: row(16, 2, runs=runs, surfaces=[None, (0.2, 0.5, 0.01)]),
        }
        for name, make in makers.items():
            whole, part = self.bake(make(), name), plan.make_job(self.folder / f"part {name}", make())
            bake_scene.run_until(part, 37 if name == "sleep" else 13)
            self.assertEqual(part.state, jobs.CANCELLED)
            again = self.bake(make(), f"part {name}", plan.RESUME)
            for cached in whole.cache.bodies:
                np.testing.assert_array_equal(
                    pc2.frames(whole.cache.pc2_path(cached)), pc2.frames(again.cache.pc2_path(cached)), name
                )


class Fingerprints(unittest.TestCase):
    def test_changes_are_named_and_bakes_from_before_keep_theirs(self):
        plain = fingerprint(row(4))
        self.assertFalse([n for n in [*plain.inputs, *plain.parts] if "weld" in n or "sleep" in n])
        runs = ((1.0, 0.0, 0.0),) * 3
        for made, said in (
            (row(4, sleep=(0.1, 0.5)), "the surfaces or the sleep of bodies at frame 1"),
            (row(4, surfaces=[(0.0, 0.0, 0.0)]), "the surfaces or the sleep of bodies at frame 1"),
            (row(4, runs=runs), "the collider 'Floor' at frame 1"),
            (row(4, welds=[shot.Weld("Cube 0", "Floor")]), "the welds"),
        ):
            self.assertEqual(plain.difference(fingerprint(made), 4), said)
        # as colliders were hashed when no surface could run
        old = dict(vars(row(1).frames[0].colliders[0]))
        del old["runs"]
        from addon.bake.fingerprint import hash_of

        self.assertEqual(hash_of(old, size=8), fingerprint(row(1)).frames[1].split()[3])


if __name__ == "__main__":
    unittest.main()
