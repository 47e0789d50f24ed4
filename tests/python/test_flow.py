# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces of bodies that flow: they keep their volume when released, and do not fold while drawn
out."""

import tempfile
import unittest

import support  # noqa: F401 - makes the others importable

import numpy as np
from addon import solver

LENGTH, RADIUS, RINGS, SIDES = 1.2, 0.2, 60, 32


def bar():
    """A round bar along x, closed."""
    angles = np.arange(SIDES) * 2 * np.pi / SIDES
    ring = np.stack([np.zeros(SIDES), RADIUS * np.cos(angles), RADIUS * np.sin(angles)], 1)
    places = np.linspace(-LENGTH / 2, LENGTH / 2, RINGS + 1)
    vertices = np.concatenate([ring + [x, 0, 0] for x in places] + [[[-LENGTH / 2, 0, 0], [LENGTH / 2, 0, 0]]])
    triangles = []
    for start in range(0, RINGS * SIDES, SIDES):
        for side in range(SIDES):
            a, b = start + side, start + (side + 1) % SIDES
            triangles += [(a, b, b + SIDES), (a, b + SIDES, a + SIDES)]
    low, high = len(vertices) - 2, len(vertices) - 1
    for side in range(SIDES):
        after, end = (side + 1) % SIDES, RINGS * SIDES
        triangles += [(low, after, side), (high, end + side, end + after)]
    triangles = np.array(triangles, np.uint32)
    if volume(vertices, triangles) < 0:
        triangles = triangles[:, ::-1]
    return vertices.astype(np.float32), np.ascontiguousarray(triangles)


def volume(vertices, triangles):
    a, b, c = (vertices[triangles[:, i]].astype(float) for i in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def sharpest(vertices, triangles):
    """The least cosine between the normals of neighbouring faces of the bar's wall."""
    wall = triangles[: 2 * RINGS * SIDES]
    a, b, c = (vertices[wall[:, i]].astype(float) for i in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    faces = normals.reshape(RINGS, SIDES, 2, 3)
    within = (faces[:, :, 0] * faces[:, :, 1]).sum(-1)
    around = (faces[:, :, 0] * np.roll(faces, 1, axis=1)[:, :, 1]).sum(-1)
    along = (faces[1:, :, 0] * faces[:-1, :, 1]).sum(-1)
    return min(within.min(), around.min(), along.min())


def pulled(vertices, times):
    return vertices * np.array([times, 1, 1], np.float32)


def twisted(vertices, turns):
    angle = 2 * np.pi * turns * vertices[:, 0] / LENGTH
    x, y, z = vertices.T
    return np.stack([x, y * np.cos(angle) - z * np.sin(angle), y * np.sin(angle) + z * np.cos(angle)], 1).astype(
        np.float32
    )


class Surfaces(unittest.TestCase):
    def flow(self, shape, start, end, frames=40, settle=60):
        """The skinned bar as held at the end of being shaped, and after it was let go."""
        vertices, triangles = bar()
        with solver.Scene(threads=1, gravity=(0, 0, 0)) as scene:
            body = scene.add_body(
                vertices,
                triangles,
                sample={"count": 2000},
                material={"stiffness": 14, "damping": 20, "yield": 0.02, "flow": 40, "density": 1300},
            )
            held = np.abs(body.positions()[:, 0]) > 0.5
            body.set_pins(np.where(held, solver.PIN_HELD, 0).astype(np.float32))
            skin = body.skin(vertices)
            for frame in range(1, frames + 1):
                amount = start + (end - start) * min(1, 1.2 * frame / frames)
                body.set_pin_mesh(shape(vertices, amount))
                scene.advance(dt=1 / 24)
            loaded = skin.apply().vertices
            body.set_pins(np.zeros(len(held), np.float32))
            for _ in range(settle):
                scene.advance(dt=1 / 24)
            return loaded, skin.apply().vertices

    def test_volume_comes_back_when_it_is_let_go(self):
        vertices, triangles = bar()
        whole = volume(vertices, triangles)
        for shape, start, end in ((pulled, 1, 2), (pulled, 1, 0.6), (twisted, 0, 0.75)):
            with self.subTest(shape=shape.__name__, end=end):
                loaded, settled = self.flow(shape, start, end)
                moved = np.abs(settled - vertices).max()
                self.assertGreater(moved, 0.05, "it has kept nothing: the test would see nothing")
                self.assertNotAlmostEqual(volume(loaded, triangles) / whole, 1, delta=0.02)
                self.assertAlmostEqual(volume(settled, triangles) / whole, 1, delta=0.02)

    def test_a_bar_drawn_to_five_times_its_length_has_no_folds(self):
        loaded, settled = self.flow(pulled, 1, 5, 60)
        triangles = bar()[1]
        self.assertGreater(np.ptp(settled[:, 0]), 4 * LENGTH)
        for vertices in (loaded, settled):
            self.assertGreater(sharpest(vertices, triangles), 0.5)


class Resampled(unittest.TestCase):
    """Surfaces of bodies whose particles become more."""

    def test_a_thread_stays_full_of_particles(self):
        vertices, triangles = bar()
        gaps = {}
        for resample in (0, 1):
            with solver.Scene(threads=1, gravity=(0, 0, 0)) as scene:
                body = scene.add_body(
                    vertices,
                    triangles,
                    sample={"count": 500},
                    material={
                        "stiffness": 14,
                        "damping": 20,
                        "yield": 0.02,
                        "flow": 40,
                        "density": 1300,
                        "resample": resample,
                    },
                )
                first = len(body.positions())
                held = np.abs(body.positions()[:, 0]) > 0.5
                body.set_pins(np.where(held, solver.PIN_HELD, 0).astype(np.float32))
                for frame in range(1, 76):
                    body.set_pin_mesh(pulled(vertices, 1 + 7 * min(1, frame / 60)))
                    scene.advance(dt=1 / 24)
                places = np.sort(body.positions()[:, 0])
                gaps[resample] = np.diff(places).max() / body.info.spacing
                self.assertLessEqual(len(places), 4 * first)
        self.assertLess(gaps[1], 3)
        self.assertGreater(gaps[0], 2 * gaps[1])

    def drawn_out(self, resample, store=None):
        """Surfaces and particle counts of a bar that is drawn to five times its length."""
        vertices, triangles = bar()
        with solver.Scene(threads=1, gravity=(0, 0, 0)) as scene:
            body = scene.add_body(
                vertices,
                triangles,
                sample={"count": 500},
                material={
                    "stiffness": 14,
                    "damping": 20,
                    "yield": 0.02,
                    "flow": 40,
                    "density": 1300,
                    "resample": resample,
                },
            )
            held = np.abs(body.positions()[:, 0]) > 0.5
            body.set_pins(np.where(held, solver.PIN_HELD, 0).astype(np.float32))
            skin, rows, counts = body.skin(vertices), [], []
            for frame in range(41):
                if frame:
                    body.set_pin_mesh(pulled(vertices, 1 + 0.1 * frame))
                    scene.advance(dt=1 / 24)
                if store:
                    store.write_frame(scene, frame)
                rows.append(skin.apply().vertices)
                counts.append(len(body.positions()))
        return np.array(rows), counts

    def test_nothing_shows_when_particles_are_divided(self):
        with tempfile.TemporaryDirectory() as folder, solver.Store(folder, mode="create") as store:
            rows, counts = self.drawn_out(1, store)
            first = counts[0]
            self.assertGreater(counts[-1], 1.5 * first)
            with store.skin(0, bar()[0], rebind=0) as stored:
                for frame in (0, 20, 40):
                    np.testing.assert_array_equal(stored.apply(frame).vertices, rows[frame])
            # frames are presented on the last set of particles
            self.assertEqual(len(store.read(0, 0, solver.Channel.POSITION)), counts[-1])
            parents = store.read(0, 40, solver.Channel.PARENT)
            self.assertTrue((parents[first:] < np.arange(first, counts[-1])).all())
            np.testing.assert_allclose(
                store.read(0, 40, solver.Channel.MASS).sum(),
                store.read(0, 0, solver.Channel.MASS)[:first].sum(),
                rtol=1e-5,
            )
        # the surface goes on about as steadily as without dividing: no step is far from the next
        jumps = [
            np.abs(np.diff(moved, n=2, axis=0)).max(axis=(1, 2))[5:].max() for moved in (rows, self.drawn_out(0)[0])
        ]
        self.assertLess(jumps[0], 2 * jumps[1])


if __name__ == "__main__":
    unittest.main()
