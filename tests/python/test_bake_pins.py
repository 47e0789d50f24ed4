# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted pins reach the intended particles."""

import unittest

import support  # noqa: F401 - makes addon importable

import numpy as np
from addon import solver
from addon.bake import pins
from addon.bake.shot import Body


def sheet(columns=33, rows=21):
    y, x = np.divmod(np.arange(columns * rows), columns)
    points = np.stack([x / (columns - 1), np.zeros(len(x)), y / (rows - 1)], 1).astype(np.float32)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    faces = np.concatenate(
        [
            np.stack([corner, corner + 1, corner + columns + 1], 1),
            np.stack([corner, corner + columns + 1, corner + columns], 1),
        ]
    )
    return points, faces.astype(np.uint32)


class Nearest(unittest.TestCase):
    def test_as_by_looking_at_all(self):
        generator = np.random.default_rng(3)
        points = generator.random((200, 3)).astype(np.float32) * (3, 1, 0.2)
        others = generator.random((500, 3)).astype(np.float32) * (3, 1, 0.2)
        away = np.linalg.norm(points[:, None] - others, axis=2)
        found = pins.nearest_within(points, others, 0.1)
        near = away.min(axis=1) <= 0.1
        self.assertTrue(near.any() and not near.all())
        np.testing.assert_array_equal(found[near], away.argmin(axis=1)[near])
        self.assertTrue((away[np.arange(200), found][found >= 0] < 0.35).all())

    def test_far_apart(self):
        found = pins.nearest_within(np.zeros((1, 3)), np.full((2, 3), 1e30), 1e-3)
        self.assertEqual(list(found), [-1])


class Sheet(unittest.TestCase):
    def test_one_row_of_vertices_holds(self):
        """Also far from the world's zero, where positions are relative to an origin."""
        points, faces = sheet()
        for origin in ((0.0, 0.0, 0.0), (6400.0, -64.0, 128.0)):
            with solver.Scene(threads=1) as scene:
                made = scene.add_body(
                    points, faces, origin=origin, sample={"count": 500, "mode": solver.Sampling.SURFACE}
                )
                body = Body("Flag", points, faces, {}, pins=(points[:, 0] == 0).astype(np.float32))
                weights = pins.particle_weights(made, body, origin)
                at = made.positions(origin=origin)
                held = weights >= 0.999
                self.assertGreater(held.sum(), 8)
                self.assertLess(at[held, 0].max(), made.info.spacing)
                # from top to bottom, without a gap
                self.assertLess(np.diff(np.sort(at[held, 2])).max(), 3 * made.info.spacing)
                self.assertFalse(weights[at[:, 0] > 2.5 * made.info.spacing].any())

    def test_nothing_painted(self):
        points, faces = sheet(5, 5)
        with solver.Scene(threads=1) as scene:
            made = scene.add_body(points, faces, sample={"count": 50})
            body = Body("Flag", points, faces, {}, pins=np.zeros(25, np.float32))
            self.assertFalse(pins.particle_weights(made, body, (0, 0, 0)).any())


if __name__ == "__main__":
    unittest.main()
