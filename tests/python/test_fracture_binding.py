# SPDX-License-Identifier: GPL-3.0-or-later
"""Bindings of broken vertices: both sides equal until the birth, separate afterwards."""

import unittest

import numpy as np
from fracture_scene import between, box, cloud, particles, voronoi
from test_fracture_cells import divided_bar

from addon.fracture import break_mesh
from addon.fracture.binding import skin

SIZE, SPACING, BIRTH, FADE = np.array([1.0, 0.8, 0.4]), 0.1, 5.0, 3.0
SEEDS = np.random.default_rng(4).uniform(0, 1, (5, 3)) * SIZE


def bend(rest, amount=0.8):
    """A smooth deformation that is not affine: positions and gradients."""
    x, y, z = rest.T
    moved = np.column_stack([x + amount * z * z, y + amount * x * x, z + amount * x * y])
    gradient = np.zeros((len(rest), 3, 3))
    gradient[:] = np.eye(3)
    gradient[:, 0, 2], gradient[:, 1, 0] = 2 * amount * z, 2 * amount * x
    gradient[:, 2, 0], gradient[:, 2, 1] = amount * y, amount * x
    return moved, gradient


class Follows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.body = particles(cloud(SIZE, SPACING), SPACING, between(voronoi(SEEDS)), BIRTH)
        cls.broken = break_mesh(box(SIZE, (8, 6, 3)), cls.body)
        cls.vertices = cls.broken.surface.vertices

    def at(self, time, position, gradient):
        return skin(self.broken.binding, self.vertices, self.body.rest, position, gradient, time, FADE)

    def crack_pairs(self):
        before = self.broken.binding.before
        return np.flatnonzero(before != np.arange(len(before)))

    def test_positions_that_are_no_numbers_do_not_hang(self):
        count = len(self.body.rest)
        found = self.at(99, np.full((count, 3), np.nan), np.full((count, 3, 3), np.nan))
        self.assertTrue(np.isnan(found).all())

    def test_every_vertex_follows_someone_who_stays(self):
        binding = self.broken.binding
        vertex = np.repeat(np.arange(len(self.vertices)), np.diff(binding.begin))
        self.assertGreater(np.bincount(vertex[np.isinf(binding.until)], minlength=len(self.vertices)).min(), 0)
        self.assertGreater(binding.kernel.min(), 0)

    def test_rest_and_affine_motion_are_exact_at_any_time(self):
        turn = np.array([[0.9, -0.3, 0.1], [0.4, 1.1, 0.0], [-0.2, 0.3, 0.8]])
        gradient = np.broadcast_to(turn, (len(self.body.rest), 3, 3))
        for time in (0, BIRTH, BIRTH + 1, 99):
            found = self.at(time, self.body.rest @ turn.T + 2, gradient)
            np.testing.assert_allclose(found, self.vertices @ turn.T + 2, atol=1e-12)

    def test_both_sides_are_one_until_the_birth(self):
        twin = self.crack_pairs()
        self.assertGreater(len(twin), 300)
        other = self.broken.binding.before[twin]
        apart = self.body.rest + np.random.default_rng(0).normal(0, 0.05, self.body.rest.shape)
        gradient = np.broadcast_to(np.eye(3), (len(apart), 3, 3))
        for time in (0, BIRTH):
            found = self.at(time, apart, gradient)
            np.testing.assert_array_equal(found[twin], found[other])

    def test_afterwards_a_vertex_follows_its_own_piece_only(self):
        side = voronoi(SEEDS)(self.body.rest)
        step = np.random.default_rng(1).normal(0, 1, (len(SEEDS), 3))
        gradient = np.broadcast_to(np.eye(3), (len(side), 3, 3))
        found = self.at(BIRTH + FADE, self.body.rest + step[side], gradient)
        np.testing.assert_allclose(found - self.vertices, step[side[self.broken.copy]], atol=1e-9)

    def test_nothing_jumps_at_the_birth(self):
        position, gradient = bend(self.body.rest)
        before = self.at(BIRTH, position, gradient)
        after = self.at(BIRTH + 0.02 * FADE, position, gradient)
        self.assertLess(np.abs(after - before).max(), 1e-3 * SPACING)
        self.assertLess(np.abs(before - bend(self.vertices)[0]).max(), 0.2 * SPACING)

    def test_slit_opens_from_its_tip(self):
        body = particles(
            cloud(SIZE, SPACING),
            SPACING,
            lambda a, b: ((a[:, 0] < 0.5) != (b[:, 0] < 0.5)) & (a[:, 1] < 0.4) & (b[:, 1] < 0.4),
        )
        broken = break_mesh(box(SIZE, (8, 6, 3)), body)
        opened = body.rest.copy()
        opened[:, 0] += np.sign(opened[:, 0] - 0.5) * np.clip(0.4 - opened[:, 1], 0, None)
        gradient = np.broadcast_to(np.eye(3), (len(opened), 3, 3))
        found = skin(broken.binding, broken.surface.vertices, body.rest, opened, gradient, 99, FADE)
        twin = np.flatnonzero(broken.binding.before != np.arange(len(found)))
        gap = np.abs(found[twin, 0] - found[broken.binding.before[twin], 0])
        y = broken.surface.vertices[twin, 1]
        self.assertGreater(np.quantile(gap[y < 0.05], 0.05), 0.3)
        self.assertLess(np.median(gap[y > 0.35]), 0.1)

    def test_copies_are_followed_on_their_side(self):
        body = divided_bar(BIRTH)
        broken = break_mesh(box([1.1, 0.6, 0.4], (5, 3, 2)), body)
        right = (body.rest[:, 0] > 0.56) | (body.parent >= 0)
        moved = body.rest + right[:, None] * np.array([0.5, 0, 0])
        gradient = np.broadcast_to(np.eye(3), (len(moved), 3, 3))
        found = skin(broken.binding, broken.surface.vertices, body.rest, moved, gradient, 99, FADE)
        shift = found[:, 0] - broken.surface.vertices[:, 0]
        far = broken.piece == broken.piece[broken.surface.vertices[:, 0].argmax()]
        np.testing.assert_allclose(shift, 0.5 * far, atol=1e-9)


if __name__ == "__main__":
    unittest.main()
