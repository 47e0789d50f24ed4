# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that break, seen from Python."""
import unittest

import numpy as np
import support  # noqa: F401  (makes addon importable)
from addon.solver import Channel, Factor, PliantError, Scene, Stiffness

HELD = 1e6


def bar(number=(40, 6, 6), size=(2.0, .3, .3)):
    """Points of a bar along x, a little out of line."""
    grid = np.stack(np.meshgrid(*[np.arange(n) for n in number], indexing="ij"), -1).reshape(-1, 3)
    shake = np.random.default_rng(1).uniform(-.2, .2, grid.shape)
    return ((grid + .5 + shake) / number * size - np.array(size) / 2).astype(np.float32)


class Pulled:
    """A bar that is held at both ends and pulled."""

    def __init__(self, scene, toughness, **settings):
        self.scene, self.rest, self.apart = scene, bar(), 0.0
        self.body = scene.add_body(points=self.rest, cluster={"count": 30}, material={
            "stiffness_kind": Stiffness.YOUNG, "stiffness": 1e5, "damping": 5})
        self.body.set_fracture(toughness, **settings)
        self.body.set_pins(np.where(abs(self.rest[:, 0]) > .9, HELD, 0).astype(np.float32))

    def advance(self, frames, by=.03):
        for _ in range(frames):
            self.apart += by / 2
            target = self.rest.copy()
            target[:, 0] += np.sign(target[:, 0]) * self.apart
            self.body.set_pin_targets(target)       # of as many as there were at first
            self.scene.advance(dt=1 / 24)


class Breaking(unittest.TestCase):
    def test_a_bar_comes_apart(self):
        with Scene(gravity=(0, 0, 0), threads=1) as scene:
            pulled = Pulled(scene, .08)
            body, first = pulled.body, len(pulled.rest)
            self.assertEqual((body.info.pieces, body.info.splits), (1, 0))
            quanta = body.read(Channel.MASS_QUANTA).sum()
            pulled.advance(30)
            info = body.info
            self.assertGreater(info.pieces, 1)
            self.assertGreater(info.particles, first)
            self.assertEqual(body.read(Channel.MASS_QUANTA).sum(), quanta)
            parent, birth = body.read(Channel.PARENT), body.read(Channel.BIRTH)
            self.assertTrue((parent[:first] == np.arange(first)).all())
            self.assertTrue((parent[first:] < np.arange(first, len(parent))).all())
            self.assertTrue((birth[:first] == 0).all() and (birth[first:] > 0).all())
            rest = body.read(Channel.REST)
            self.assertTrue((rest == rest[parent]).all())
            piece = body.read(Channel.PIECE)
            self.assertEqual(len(np.unique(piece)), info.pieces)
            # the two ends are apart, and each piece hangs together
            ends = piece[[rest[:, 0].argmin(), rest[:, 0].argmax()]]
            self.assertNotEqual(*ends)
            self.assertEqual(len(body.read(Channel.PIECE_PARENT)), info.pieces_ever)
            births = body.read(Channel.PIECE_BIRTH)
            self.assertTrue(births[0] == 0 and (births[1:] > 0).all() and births.max() <= 30)

    def test_splits_say_where_and_who(self):
        with Scene(gravity=(0, 0, 0), threads=1) as scene:
            pulled = Pulled(scene, .08)
            pulled.advance(30)
            body, splits = pulled.body, pulled.body.info.splits
            plane, time = body.read(Channel.SPLIT_PLANE), body.read(Channel.SPLIT_TIME)
            divided = body.read(Channel.DIVIDED)
            self.assertEqual((len(plane), len(time)), (splits, splits))
            self.assertTrue((np.diff(time) >= 0).all() and time[-1] <= 30)
            np.testing.assert_allclose(np.linalg.norm(plane[:, 3:6], axis=1), 1, atol=1e-5)
            # pulled along x, it breaks across x
            self.assertGreater(np.median(abs(plane[:, 3])), .9)
            parent, birth = body.read(Channel.PARENT), body.read(Channel.BIRTH)
            self.assertEqual(len(divided), len(parent) - len(pulled.rest))
            split, old, new, toward = divided.T
            self.assertTrue((parent[new] == old).all())
            self.assertTrue((birth[new] == time[split]).all())
            self.assertTrue(set(np.unique(toward)) <= {0, 1})
            # a divided particle is near the plane, within reach of its cluster
            rest = body.read(Channel.REST)
            away = np.linalg.norm(rest[old] - plane[split, :3], axis=1)
            self.assertTrue((away <= plane[split, 6] * 1.01 + .05).all())

    def test_limits_and_weak_places(self):
        with Scene(gravity=(0, 0, 0), threads=1) as scene:
            pulled = Pulled(scene, .08, most_pieces=2)
            weak = np.where(abs(pulled.rest[:, 0] + .4) < .08, .1, 1).astype(np.float32)
            pulled.body.set_factors(Factor.TOUGHNESS, weak)
            pulled.advance(30)
            piece = pulled.body.read(Channel.PIECE)[:len(weak)]
            self.assertEqual(pulled.body.info.pieces, 2)
            left, right = pulled.rest[:, 0] < -.6, pulled.rest[:, 0] > -.2
            self.assertEqual(len(np.unique(piece[left])), 1)
            self.assertEqual(len(np.unique(piece[right])), 1)
            self.assertNotEqual(piece[left][0], piece[right][0])

    def test_wrong_settings_are_sentences(self):
        with Scene() as scene:
            body = scene.add_body(points=bar())
            with self.assertRaisesRegex(PliantError, "toughness"):
                body.set_fracture(-1)
            with self.assertRaises(TypeError):
                body.set_fracture(.1, tougness=1)
            with self.assertRaisesRegex(PliantError, "particles"):
                body.set_pins(np.zeros(3, np.float32))

    def test_restored_it_breaks_the_same(self):
        hashes = []
        for saved in (False, True):
            with Scene(gravity=(0, 0, 0), threads=1) as scene:
                pulled = Pulled(scene, .08)
                pulled.advance(12)
                if saved:
                    scene.restore(scene.save())
                    pulled.body = scene.bodies()[0]
                pulled.advance(12)
                hashes.append((scene.hash(), pulled.body.info.pieces))
        self.assertEqual(*hashes)
        self.assertGreater(hashes[0][1], 1)


if __name__ == "__main__":
    unittest.main()
