# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of several shells, and fragments of brittle bodies: nothing is torn or crumpled."""

import unittest

import support  # noqa: F401  (makes addon and figures importable)

import figures
import numpy as np
from addon.solver import Channel, Goal, PliantError, Scene, Shape, Shells, Stiffness

RUBBER = {
    "stiffness_kind": Stiffness.FREQUENCY,
    "stiffness": 13.0,
    "damping": 6.0,
    "density": 1100.0,
    "goal": Goal.LINEAR,
    "beta": 0.5,
}
GLASS = {"stiffness_kind": Stiffness.FREQUENCY, "stiffness": 60.0, "damping": 20.0, "density": 2500.0}


def dropped(shells, frames=40, count=1500):
    """A teapot that fell: its body, where its vertices were and are."""
    vertices, triangles = figures.teapot()
    vertices = vertices + np.float32([0, 0, 1 - vertices[:, 2].min()])
    with Scene(threads=1) as scene:
        body = scene.add_body(vertices, triangles, sample={"count": count, "shells_apart": shells}, material=RUBBER)
        scene.add_collider(Shape.PLANE)
        skin = body.skin(vertices, triangles=triangles)
        for _ in range(frames):
            scene.advance(dt=1 / 24)
        return body.read(Channel.SHELL), triangles, vertices, skin.apply().vertices


class Teapot(unittest.TestCase):
    def test_shells_that_touch_are_one(self):
        shell, triangles, before, after = dropped(Shells.TOUCHING)
        self.assertEqual(shell.max(), 0)
        self.assertLess(figures.stretch(triangles, before, after).max(), 1.6)
        self.assertLess(figures.crumpling(before, after), 0.05)  # nothing has come off

    def test_shells_kept_apart_follow_their_own_particles(self):
        shell, triangles, before, after = dropped(Shells.APART)
        self.assertEqual(len(np.unique(shell)), 4)
        self.assertLess(figures.stretch(triangles, before, after).max(), 2.0)
        self.assertGreater(figures.crumpling(before, after), 0.05)  # they fell apart

    def test_rejects_what_is_no_choice_and_triangles_that_name_no_vertex(self):
        vertices, triangles = figures.teapot()
        with Scene() as scene:
            with self.assertRaisesRegex(PliantError, "shells_apart"):
                scene.add_body(vertices, triangles, sample={"count": 100, "shells_apart": 3})
            body = scene.add_body(vertices, triangles, sample={"count": 100})
            with self.assertRaisesRegex(PliantError, "names vertex"):
                body.skin(vertices[:50], triangles=triangles)


class Shards(unittest.TestCase):
    def shatter(self, figure, frames=48):
        """For each piece there is in the end: its share of the mass, and the most that its shape has
        changed since its particles parted from all others."""
        vertices, triangles = figure()
        vertices = vertices + np.float32([0, 0, 2.5 - vertices[:, 2].min()])
        with Scene(threads=1) as scene:
            body = scene.add_body(
                vertices, triangles, sample={"count": 1200}, material=GLASS, angular_velocity=(0.7, 0.5, 0.2)
            )
            scene.add_collider(Shape.PLANE)
            body.set_fracture(0.004, boost=2.0, falloff=6.0)
            born, most = {}, {}
            for _ in range(frames):
                scene.advance(dt=1 / 24)
                place, piece = body.positions().astype(float), body.read(Channel.PIECE)
                for number in np.unique(piece):
                    own = np.flatnonzero(piece == number)
                    if number not in born or not np.array_equal(born[number][0], own):
                        born[number], most[number] = (own, place[own]), 0.0
                    if len(own) >= 4:
                        most[number] = max(most[number], figures.crumpling(born[number][1], place[own]))
            mass = np.bincount(piece, body.read(Channel.MASS))
            numbers = np.unique(piece)
            return mass[numbers] / mass.sum(), np.array([most[number] for number in numbers])

    def test_small_fragments_of_brittle_bodies_are_rigid(self):
        for figure in (figures.pane, figures.eared):
            share, changed = self.shatter(figure)
            small = changed[share < 0.05]
            self.assertGreater(len(small), 4, figure.__name__)
            self.assertLess(np.quantile(small, 0.9), 0.01, figure.__name__)
            self.assertLess(small.max(), 0.02, figure.__name__)

    def test_rigid_fragments_keep_momentum(self):
        vertices, triangles = figures.pane()
        with Scene(threads=1, gravity=(0, 0, 0)) as scene:
            body = scene.add_body(
                vertices,
                triangles,
                sample={"count": 600},
                material=GLASS,
                angular_velocity=(2, 1, 3),
                velocity=(1, 0, 0),
            )
            body.set_fracture(0.004)
            place = body.positions()
            spread = body.velocities() + 3 * np.float32([1, 1, 0]) * np.sign(place)
            body.set_particles(velocities=spread)
            before = body.info
            for _ in range(24):
                scene.advance(dt=1 / 24)
            after = body.info
            self.assertGreater(after.pieces, 3)
            scale = before.mass * 3 * 1.0
            np.testing.assert_allclose(after.momentum, before.momentum, atol=1e-4 * scale)
            np.testing.assert_allclose(after.angular_momentum, before.angular_momentum, atol=2e-3 * scale)


if __name__ == "__main__":
    unittest.main()
