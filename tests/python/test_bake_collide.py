# SPDX-License-Identifier: GPL-3.0-or-later
"""Collisions between bodies of a shot: on, off, and by group."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import bake_scene
import numpy as np
from addon import solver
from addon.bake import job as jobs
from addon.bake import plan, shot
from addon.bake.formats import pc2
from addon.bake.fingerprint import fingerprint

COUNT = 300
SPACING = (8 / COUNT) ** (1 / 3)
FRICTION = {"friction": 0.4}


def pile(end=30, contacts=FRICTION, lower=(1, True), upper=(1, True)):
    """A cube on a floor at zero, another falls on it from a little higher."""
    bodies = [
        shot.Body(
            name,
            bake_scene.CUBE + np.float32((0, 0, z)),
            bake_scene.FACES,
            {"sample": {"count": COUNT}},
            topology="cube",
        )
        for name, z in (("Lower", -0.98), ("Upper", 1.3))
    ]
    floor = shot.ColliderFrame((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    material = bake_scene.material(stiffness=14.0, damping=6.0)
    frames = [
        bake_scene.frame(
            number,
            fields=[],
            colliders=[floor],
            contacts=contacts,
            bodies=[shot.BodyFrame(np.eye(4), material, contacts=groups) for groups in (lower, upper)],
        )
        for number in range(1, end + 1)
    ]
    return bake_scene.shot(1, end, bodies=bodies, fields=[], frames=frames)


def bake(made, folder, kind=plan.NEW):
    job = plan.make_job(folder, made, kind)
    job.run()
    return job


def heights(job):
    """Of each frame how low the upper mesh reaches, and how high the lower one."""
    lower, upper = (pc2.frames(job.cache.pc2_path(body))[:, :, 2] for body in job.cache.bodies)
    return upper.min(axis=1), lower.max(axis=1)


class Collide(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def bake(self, made, name="cache", kind=plan.NEW):
        job = bake(made, self.folder / name, kind)
        self.assertEqual(job.state, jobs.DONE, job.error)
        return job

    def test_one_lies_on_the_other(self):
        job = self.bake(pile())
        low, high = heights(job)
        # the corners of soft cubes bend: neither sunk in nor hovering
        self.assertLess(abs(low - high)[-1], 0.75 * SPACING)
        self.assertGreater(job.contacts, 0)
        most, frame = job.most_contacts
        self.assertGreaterEqual(most, job.contacts)
        self.assertIn(frame, range(2, 31))

    def test_groups_part_them_and_switched_off_they_never_meet(self):
        for name, made in (("off", pile(contacts=None)), ("apart", pile(upper=(2, True)))):
            job = self.bake(made, name)
            low, high = heights(job)
            self.assertLess(low.min(), 0.2, name)
            self.assertGreater(high.min(), 1.5, name)
        self.assertIsNone(self.bake(pile(end=2, contacts=None), "none").most_contacts)

    def test_a_bake_that_goes_on_comes_to_the_same(self):
        made = pile(end=16)
        for frame in made.frames[:8]:  # also when it is switched on on the way
            frame.contacts = None
        whole, part = self.bake(made, "whole"), plan.make_job(self.folder / "part", made)
        bake_scene.run_until(part, 13)
        self.assertEqual(part.state, jobs.CANCELLED)
        again = self.bake(made, "part", plan.RESUME)
        for cached in whole.cache.bodies:
            np.testing.assert_array_equal(
                pc2.frames(whole.cache.pc2_path(cached)), pc2.frames(again.cache.pc2_path(cached))
            )

    def test_what_the_library_refuses_is_a_sentence(self):
        job = bake(pile(end=2, contacts={"friction": -1.0}), self.folder / "bad")
        self.assertEqual(job.state, jobs.FAILED)
        self.assertIn("friction", job.error)


class Fingerprints(unittest.TestCase):
    def test_bakes_from_before_keep_theirs(self):
        """Where bodies do not collide, nothing of it is in the hashes."""
        found = fingerprint(pile(end=2, contacts=None, lower=None, upper=(4, False)))
        self.assertFalse([name for name in found.inputs if "collision" in name])
        self.assertEqual(len(found.frames[1].split()), len(found.inputs))

    def test_a_change_is_named(self):
        made = fingerprint(pile(end=4))
        self.assertIsNone(made.difference(fingerprint(pile(end=4)), 4))
        for other in (
            pile(end=4, contacts=None),
            pile(end=4, contacts={"friction": 0.3}),
            pile(end=4, upper=(2, True)),
            pile(end=4, upper=(1, False)),
        ):
            for a, b in ((made, fingerprint(other)), (fingerprint(other), made)):
                self.assertEqual(a.difference(b, 4), "the collision of bodies at frame 1")
        later = pile(end=4)
        later.frames[3] = replace(later.frames[3], contacts=None)
        self.assertEqual(made.difference(fingerprint(later), 4), "the collision of bodies at frame 4")
        self.assertIsNone(made.difference(fingerprint(later), 3))


class Face(unittest.TestCase):
    def test_settings_reach_the_library(self):
        with solver.Scene() as scene:
            body = scene.add_body(bake_scene.CUBE, bake_scene.FACES, sample={"count": 60})
            scene.set_contacts(friction=0.1, thickness=0.01, iterations=3)
            body.set_contacts(groups=5, self_contact=False)
            for name, value in (("friction", -1.0), ("restitution", 2.0), ("iterations", 0)):
                with self.assertRaises(solver.PliantError) as caught:
                    scene.set_contacts(**{name: value})
                self.assertIn(name, str(caught.exception))
            with self.assertRaises(TypeError):
                scene.set_contacts(stickiness=1.0)

    def test_bodies_rest_at_the_surface_that_is_told(self):
        vertices = np.asarray(bake_scene.CUBE, np.float32)
        size = float(np.ptp(vertices[:, 2]))
        with solver.Scene(threads=1) as scene:
            scene.set_contacts()
            scene.add_collider(solver.Shape.PLANE)
            lift = -float(vertices[:, 2].min())
            bodies = [
                scene.add_body(
                    vertices + np.float32((0, 0, z)),
                    bake_scene.FACES,
                    sample={"count": 200},
                    material={"stiffness": 16, "damping": 20},
                )
                for z in (lift, lift + 1.02 * size)
            ]
            spacing = bodies[0].info.spacing
            rest = bodies[0].positions()
            before = scene.hash()
            self.assertLess(bodies[0].surface_distance(rest).max(), 0)  # particles are inside
            self.assertEqual(scene.hash(), before)
            moved = bodies[0].surface_distance(rest - (1, 2, 3), origin=(1, 2, 3))
            np.testing.assert_allclose(moved, bodies[0].surface_distance(rest), atol=1e-5)
            far = bodies[0].surface_distance(rest.mean(axis=0)[None] + (10 * size, 0, 0))
            self.assertAlmostEqual(float(far[0]) / size, 9.5, delta=0.1)
            for _ in range(72):
                scene.advance(dt=1 / 24)
            sunk = (bodies[0].positions() - rest)[:, 2]
            top = rest[:, 2] > rest[:, 2].max() - 0.5 * spacing
            above = bodies[1].positions() - (0, 0, sunk[top].mean())
            nearest = bodies[0].surface_distance(above).min()
            self.assertLess(abs(nearest), 0.25 * spacing)
            with self.assertRaises(solver.PliantError) as caught:
                bodies[0].surface_distance(np.full((1, 3), np.nan))
            self.assertIn("points", str(caught.exception))

    def test_contact_shapes_are_read_and_nothing_changes(self):
        with solver.Scene() as scene:
            body = scene.add_body(bake_scene.CUBE, bake_scene.FACES, sample={"count": 300})
            before = scene.hash()
            origin = (1.0, -2.0, 3.0)
            read = [body.read(solver.Channel.CLUSTER_PLANES, origin=at) for at in (None, origin)]
            self.assertEqual(scene.hash(), before)
            scene.set_contacts()
            scene.advance(dt=1 / 24)  # now the simulation has its own
            np.testing.assert_array_equal(body.read(solver.Channel.CLUSTER_PLANES), read[0])
            plain, moved = (planes.reshape(-1, 6, 4) for planes in read)
            np.testing.assert_array_equal(plain[:, :, :3], moved[:, :, :3])
            np.testing.assert_allclose(moved[:, :, 3], plain[:, :, 3] + plain[:, :, :3] @ origin, atol=1e-5)
            lengths = np.linalg.norm(plain[:, :, :3], axis=2)
            self.assertTrue(np.isclose(lengths, 1, atol=1e-5).any())
            self.assertTrue((np.isclose(lengths, 1, atol=1e-5) | (lengths == 0)).all())
            # every member of a cluster is behind its planes
            begin = body.read(solver.Channel.MEMBER_BEGIN)
            rest = body.read(solver.Channel.REST)[body.read(solver.Channel.MEMBER_PARTICLE)]
            for cluster, planes in enumerate(plain):
                members = rest[begin[cluster] : begin[cluster + 1]]
                self.assertLess((members @ planes[:, :3].T + planes[:, 3]).max(), 1e-5)


if __name__ == "__main__":
    unittest.main()
