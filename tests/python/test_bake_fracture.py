# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of bodies that break: weak places, pins, reports."""

import tempfile
import unittest

import numpy as np
from bake_scene import CUBE, FACES, material
from addon import fracture, solver
from addon.bake import fractured_output
from addon.bake import cache as caches
from addon.bake import job as jobs
from addon.bake import pins
from addon.bake import shot as shots
from addon.bake import toughness

BAR = CUBE * np.array([1.0, 0.2, 0.2], np.float32)
SETTINGS = {"sample": {"count": 700}, "cluster": {"count": 28}}


def still(end=14):
    """A bar that may break, but is left alone."""
    body = shots.Body("Bar", BAR.copy(), FACES.copy(), SETTINGS, topology="bar")
    frames = [
        shots.Frame(
            number,
            (0.0, 0.0, 0.0),
            [shots.BodyFrame(np.eye(4), material(stiffness=30.0), fracture={"toughness": 0.06})],
            [],
            [],
        )
        for number in range(1, end + 1)
    ]
    return shots.Shot("Scene", 24.0, 1, end, (0.0, 0.0, 0.0), [body], frames=frames, checkpoint_every=4)


def broken_body(scene):
    """A bar that has been torn by its own speed."""
    body = scene.add_body(BAR, FACES, sample={"count": 700}, cluster={"count": 28}, material=material(stiffness=30.0))
    body.set_fracture(0.06)
    place = body.positions()
    body.set_particles(velocities=(place * [8.0, 0, 0]).astype(np.float32))
    for _ in range(10):
        scene.advance(dt=1 / 24)
    return body


class Weak(unittest.TestCase):
    def test_distances_to_segments(self):
        segments = np.array([[[0, 0, 0], [2, 0, 0]], [[0, 0, 5], [0, 0, 5]]], float)
        points = np.array([[1, 3, 0], [-3, 4, 0], [4, 0, 0], [0, 1, 5]], float)
        np.testing.assert_allclose(toughness.distances(points, segments), [3, 5, 2, 1])

    def test_a_marked_edge_is_weak_right_through_whatever_the_mesh(self):
        """The box has eight vertices: a ring about its middle is no matter of theirs."""
        ring = np.array([[0, y, z] for y in (-0.2, 0.2) for z in (0.2, 0.6)], np.float32)
        vertices = np.concatenate([BAR, ring])
        body = shots.Body(
            "Bar", vertices, FACES, {}, weak=shots.Weak(0.1, 0.15, np.array([[8, 9], [9, 11], [11, 10], [10, 8]]))
        )
        seen = {}
        with solver.Scene() as scene:
            made = scene.add_body(vertices, FACES, sample={"count": 700})
            x = made.read(solver.Channel.REST)[:, 0]
            made.set_factors = lambda kind, values: seen.update(kind=kind, values=values)
            toughness.apply(made, body)
            body.factors["toughness_factor"] = np.full(12, 0.5, np.float32)
            seen["first"] = seen["values"]
            toughness.apply(made, body)
        self.assertEqual(seen["kind"], solver.Factor.TOUGHNESS)
        self.assertLess(seen["first"][abs(x) < 0.03].max(), 0.25)
        np.testing.assert_array_equal(seen["first"][abs(x) > 0.16], 1)
        np.testing.assert_allclose(seen["values"], 0.5 * seen["first"])

    def test_a_weak_group(self):
        body = shots.Body(
            "Bar",
            BAR,
            FACES,
            {},
            weak=shots.Weak(0.25, 0.0, np.empty((0, 2), np.int32), (BAR[:, 0] > 0).astype(np.float32)),
        )
        seen = {}
        with solver.Scene() as scene:
            made = scene.add_body(BAR, FACES, sample={"count": 700})
            x = made.read(solver.Channel.REST)[:, 0]
            made.set_factors = lambda kind, values: seen.update(values=values)
            toughness.apply(made, body)
        self.assertLess(np.corrcoef(x, seen["values"])[0, 1], -0.95)
        self.assertAlmostEqual(seen["values"][x.argmax()], 0.25, places=1)


class Pins(unittest.TestCase):
    def test_those_who_were_there_at_first_are_told(self):
        """Copies have what the particle has that they are copies of, also after a resume."""
        held = np.where(BAR[:, 0] > 0, 1, 0.4).astype(np.float32)
        with solver.Scene(gravity=(0, 0, 0), threads=1) as scene:
            made = scene.add_body(BAR, FACES, **SETTINGS)
            before = pins.particle_weights(made, shots.Body("", BAR, FACES, {}, pins=held), None)
        with solver.Scene(gravity=(0, 0, 0), threads=1) as scene:
            made = broken_body(scene)
            after = pins.particle_weights(made, shots.Body("", BAR, FACES, {}, pins=held), None)
            self.assertGreater(made.info.particles, len(after))
            made.set_pins(after)
        np.testing.assert_array_equal(before, after)


class Flowed(unittest.TestCase):
    def test_who_flowed_apart_is_held_and_who_was_split_is_not(self):
        """Four in a row and one that came off: two flowed apart, two were split, two are in two pieces
        since frame 9."""
        particles = fracture.Particles(
            np.array([[0.0, 0, 0], [1, 0, 0], [5, 0, 0], [6, 0, 0], [7, 0, 0]]),
            np.full(5, -1),
            np.full(5, -np.inf),
            np.array([[0, 1], [2, 3], [3, 4], [1, 2]]),
            np.array([4.0, 4.0, 6.0, np.inf]),
            1.0,
            plane_point=np.array([[5.4, 0, 0], [0.5, 0, 0]]),
            plane_normal=np.array([[1.0, 0, 0]] * 2),
            plane_reach=np.array([0.5, 0.5]),
            plane_time=np.array([4.7, 8.0]),
        )
        fractured_output.hold_flowed(particles, np.array([0, 0, 0, 0, 1]), np.array([-np.inf, 9.25]))
        self.assertEqual(particles.until.tolist(), [np.inf, 4.0, 9.25, np.inf])


class Reports(unittest.TestCase):
    def run_job(self, shot):
        with tempfile.TemporaryDirectory() as folder:
            job = jobs.Job(shot, caches.Cache.create(folder, shot))
            job.run()
            self.assertIsNone(job.error)
            return job

    def test_pieces_are_counted(self):
        shot = still()
        job = self.run_job(shot)
        self.assertEqual(job.pieces, {"Bar": 1})
        for frame in shot.frames:
            frame.bodies[0].fracture = None
        self.assertEqual(self.run_job(shot).pieces, {})

    def test_warnings_that_come_while_it_runs_are_told(self):
        shot = still(end=6)
        for frame in shot.frames[3:]:
            frame.bodies[0].material = material(stiffness=900.0)
        job = self.run_job(shot)
        self.assertIn("stiffness", " ".join(job.warnings))


if __name__ == "__main__":
    unittest.main()
