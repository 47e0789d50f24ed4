# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that break, seen from Python."""

import tempfile
import unittest

import fracture_scene
import numpy as np
import support  # noqa: F401  (makes addon importable)
from addon.fracture import Look, Particles, Surface, binding, break_mesh
from addon.fracture.datatypes import check, pairs_of_groups
from addon.solver import Channel, Factor, PliantError, Scene, Stiffness, Store, StoreMode

HELD = 1e6


def bar(number=(40, 6, 6), size=(2.0, 0.3, 0.3)):
    """Points of a bar along x, a little out of line."""
    grid = np.stack(np.meshgrid(*[np.arange(n) for n in number], indexing="ij"), -1).reshape(-1, 3)
    shake = np.random.default_rng(1).uniform(-0.2, 0.2, grid.shape)
    return ((grid + 0.5 + shake) / number * size - np.array(size) / 2).astype(np.float32)


class Pulled:
    """A bar that is held at both ends and pulled."""

    def __init__(self, scene, toughness, **settings):
        self.scene, self.rest, self.apart = scene, bar(), 0.0
        self.body = scene.add_body(
            points=self.rest,
            cluster={"count": 30},
            material={"stiffness_kind": Stiffness.YOUNG, "stiffness": 1e5, "damping": 5},
        )
        self.body.set_fracture(toughness, **settings)
        self.body.set_pins(np.where(abs(self.rest[:, 0]) > 0.9, HELD, 0).astype(np.float32))

    def advance(self, frames, by=0.03):
        for _ in range(frames):
            self.apart += by / 2
            target = self.rest.copy()
            target[:, 0] += np.sign(target[:, 0]) * self.apart
            self.body.set_pin_targets(target)  # of as many as there were at first
            self.scene.advance(dt=1 / 24)


class Breaking(unittest.TestCase):
    def test_a_bar_comes_apart_between_cells(self):
        with Scene(gravity=(0, 0, 0), threads=1) as scene:
            pulled = Pulled(scene, 0.05, cells=8, cell_seed=3)
            cell = pulled.body.read(Channel.CELL)
            self.assertEqual((len(cell), len(np.unique(cell))), (len(pulled.rest), 8))
            pulled.advance(30, 0.05)
            self.assertGreater(pulled.body.info.pieces, 1)
            self.assertEqual(pulled.body.info.particles, len(pulled.rest))
            piece = pulled.body.read(Channel.PIECE)
            for one in range(8):
                self.assertEqual(len(np.unique(piece[cell == one])), 1)

    def test_a_bar_comes_apart(self):
        with Scene(gravity=(0, 0, 0), threads=1) as scene:
            pulled = Pulled(scene, 0.08)
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
            self.assertTrue((birth[:first] == -np.inf).all() and (birth[first:] > 0).all())
            rest = body.read(Channel.REST)
            self.assertTrue((rest == rest[parent]).all())
            piece = body.read(Channel.PIECE)
            self.assertEqual(len(np.unique(piece)), info.pieces)
            # the two ends are apart, and each piece hangs together
            ends = piece[[rest[:, 0].argmin(), rest[:, 0].argmax()]]
            self.assertNotEqual(*ends)
            self.assertEqual(len(body.read(Channel.PIECE_PARENT)), info.pieces_ever)
            births = body.read(Channel.PIECE_BIRTH)
            self.assertTrue(births[0] == -np.inf and (births[1:] > 0).all() and births.max() <= 30)

    def test_splits_say_where_and_who(self):
        with Scene(gravity=(0, 0, 0), threads=1) as scene:
            pulled = Pulled(scene, 0.08)
            pulled.advance(30)
            body, splits = pulled.body, pulled.body.info.splits
            plane, time = body.read(Channel.SPLIT_PLANE), body.read(Channel.SPLIT_TIME)
            divided = body.read(Channel.DIVIDED)
            self.assertEqual((len(plane), len(time)), (splits, splits))
            self.assertTrue((np.diff(time) >= 0).all() and time[-1] <= 30)
            np.testing.assert_allclose(np.linalg.norm(plane[:, 3:6], axis=1), 1, atol=1e-5)
            # pulled along x, it breaks across x
            self.assertGreater(np.median(abs(plane[:, 3])), 0.9)
            parent, birth = body.read(Channel.PARENT), body.read(Channel.BIRTH)
            self.assertEqual(len(divided), len(parent) - len(pulled.rest))
            split, old, new, toward = divided.T
            self.assertTrue((parent[new] == old).all())
            self.assertTrue((birth[new] == time[split]).all())
            self.assertTrue(set(np.unique(toward)) <= {0, 1})
            # a divided particle is near the plane, within reach of its cluster
            rest = body.read(Channel.REST)
            away = np.linalg.norm(rest[old] - plane[split, :3], axis=1)
            self.assertTrue((away <= plane[split, 6] * 1.01 + 0.05).all())

    def test_limits_and_weak_places(self):
        with Scene(gravity=(0, 0, 0), threads=1) as scene:
            pulled = Pulled(scene, 0.08, most_pieces=2)
            weak = np.where(abs(pulled.rest[:, 0] + 0.4) < 0.08, 0.1, 1).astype(np.float32)
            pulled.body.set_factors(Factor.TOUGHNESS, weak)
            pulled.advance(30)
            piece = pulled.body.read(Channel.PIECE)[: len(weak)]
            self.assertEqual(pulled.body.info.pieces, 2)
            left, right = pulled.rest[:, 0] < -0.6, pulled.rest[:, 0] > -0.2
            self.assertEqual(len(np.unique(piece[left])), 1)
            self.assertEqual(len(np.unique(piece[right])), 1)
            self.assertNotEqual(piece[left][0], piece[right][0])

    def test_wrong_settings_are_sentences(self):
        with Scene() as scene:
            body = scene.add_body(points=bar())
            with self.assertRaisesRegex(PliantError, "toughness"):
                body.set_fracture(-1)
            with self.assertRaises(TypeError):
                body.set_fracture(0.1, tougness=1)
            with self.assertRaisesRegex(PliantError, "particles"):
                body.set_pins(np.zeros(3, np.float32))

    def test_restored_it_breaks_the_same(self):
        hashes = []
        for saved in (False, True):
            with Scene(gravity=(0, 0, 0), threads=1) as scene:
                pulled = Pulled(scene, 0.08)
                pulled.advance(12)
                if saved:
                    scene.restore(scene.save())
                    pulled.body = scene.bodies()[0]
                pulled.advance(12)
                hashes.append((scene.hash(), pulled.body.info.pieces))
        self.assertEqual(*hashes)
        self.assertGreater(hashes[0][1], 1)


class Stored(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.scene = Scene(gravity=(0, 0, 0), threads=1)
        self.addCleanup(self.scene.close)
        pulled = Pulled(self.scene, 0.08)
        self.store = Store(self.folder.name, StoreMode.CREATE)
        self.addCleanup(self.store.close)
        self.counts, self.positions = [], []
        for frame in range(1, 32):
            self.store.write_frame(self.scene, frame)
            self.counts.append(pulled.body.info.particles)
            self.positions.append(pulled.body.positions())
            pulled.advance(1)
        self.body, self.first = pulled.body, len(pulled.rest)

    def test_frames_are_presented_on_the_final_particles(self):
        broken = self.store.broken(0)
        last = self.counts[-1]
        self.assertGreater(last, self.first)
        self.assertEqual(len(broken.rest), last)
        self.assertEqual(self.store.body_info(0).copies, last - self.first)
        for frame in (1, 5, 12, 31):
            now = np.arange(last)
            while (now >= self.counts[frame - 1]).any():
                late = now >= self.counts[frame - 1]
                now[late] = broken.parent[now[late]]
            np.testing.assert_array_equal(self.store.read(0, frame, Channel.POSITION), self.positions[frame - 1][now])

    def test_what_surfaces_are_made_from(self):
        broken = self.store.broken(0)
        particles = Particles(**broken._asdict())
        vertices, faces = shell_of(broken.rest)
        check(Surface(vertices, np.arange(len(faces) + 1) * 3, faces.ravel()), particles)
        self.assertTrue((broken.parent[: self.first] == -1).all())
        copies = np.arange(self.first, len(broken.rest))
        self.assertTrue((broken.parent[copies] >= 0).all())
        self.assertTrue(np.isfinite(broken.birth[copies]).all())
        self.assertEqual(sorted(broken.split_new), list(copies))
        self.assertTrue((broken.parent[broken.split_new] == broken.split_old).all())
        self.assertTrue(np.isinf(broken.until).any() and np.isfinite(broken.until).any())
        # pairs of the last frame are those of its clusters
        begin, member = (self.store_last(c) for c in (Channel.MEMBER_BEGIN, Channel.MEMBER_PARTICLE))
        pairs = pairs_of_groups(begin, member)
        near = np.linalg.norm(broken.rest[pairs[:, 0]] - broken.rest[pairs[:, 1]], axis=1) <= 3 * broken.spacing
        np.testing.assert_array_equal(pairs[near], broken.pairs[np.isinf(broken.until)])

    def store_last(self, channel):
        """Of the body when the last frame was written: it has gone on by one since."""
        frame = self.store.restore(self.scene)
        body = self.scene.bodies()[0]
        pulled = Pulled.__new__(Pulled)
        pulled.scene, pulled.rest, pulled.body, pulled.apart = self.scene, bar(), body, 0.015 * (frame - 1)
        pulled.advance(31 - frame)
        return body.read(channel)

    def test_a_broken_mesh_follows(self):
        """All the way to a surface: fragments are where the particles are."""
        broken = self.store.broken(0)
        surface = fracture_scene.box((2.0, 0.3, 0.3), (20, 3, 3))
        surface.vertices = surface.vertices - np.array([1, 0.15, 0.15])
        try:
            made = break_mesh(surface, Particles(**broken._asdict()), Look(detail=2))
        except ImportError as error:
            self.skipTest(str(error))
        self.assertGreaterEqual(made.piece.max(), 1)
        frame = 31
        position = self.store.read(0, frame, Channel.POSITION).astype(float)
        gradient = self.store.read(0, frame, Channel.DEFORMATION).reshape(-1, 3, 3).astype(float)
        moved = binding.skin(made.binding, made.surface.vertices, broken.rest, position, gradient, frame, 2.0)
        self.assertTrue(np.isfinite(moved).all())
        # each vertex is near some particle of the piece that it belongs to
        far = np.linalg.norm(moved - position[made.copy], axis=1)
        self.assertLess(far.max(), 6 * broken.spacing)


def shell_of(points):
    """A tetrahedron around points."""
    middle, far = points.mean(0), 10 * np.ptp(points, axis=0).max()
    vertices = middle + far * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    return vertices, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])


if __name__ == "__main__":
    unittest.main()
