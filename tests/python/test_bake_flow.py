# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces of bodies that have flowed so far that their particles have other neighbours."""

import tempfile
import unittest
from pathlib import Path

import bake_scene
import numpy as np
from addon import solver
from addon.bake import job as jobs
from addon.bake import output, plan
from addon.bake.formats import pc2
from addon.bake import shot as shots
from test_flow import bar, pulled, twisted

END, SOME = 60, 24


def wrung(vertices, time):
    """A bar whose ends are turned to and fro while they are drawn apart."""
    return pulled(twisted(vertices, 3 * np.sin(12 * time)), 1.15)


def shot(end=SOME, **changes):
    vertices, triangles = bar()
    pins = (np.abs(vertices[:, 0]) > 0.45).astype(np.float32)
    body = shots.Body(
        "Bar",
        vertices,
        triangles,
        {"sample": {"count": 500}},
        pins=pins,
        pin_frequency=20.0,
        pin_exact=True,
        topology="bar",
    )
    material = bake_scene.material(stiffness=14.0, damping=4.0, **{"yield": 0.02, "flow": 40.0, **changes})
    frames = [
        shots.Frame(
            n,
            gravity=(0.0, 0.0, 0.0),
            colliders=[],
            fields=[],
            bodies=[shots.BodyFrame(np.eye(4), material, pin_vertices=wrung(vertices, (n - 1) / END))],
        )
        for n in range(1, end + 1)
    ]
    return shots.Shot(
        scene="Scene",
        fps=24.0,
        start=1,
        end=end,
        origin=(0.0, 0.0, 0.0),
        bodies=[body],
        frames=frames,
        checkpoint_every=10,
    )


class Flowing(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def bake(self, name, kind=plan.NEW, **changes):
        job = plan.make_job(self.place / name, shot(**changes), kind)
        job.run()
        self.assertEqual((job.state, job.error), (jobs.DONE, None))
        return job.cache

    def rows(self, cache):
        return np.array(pc2.frames(cache.pc2_path(cache.bodies[0])))

    def skinned(self, cache, frames, **settings):
        with (
            cache.open_store() as store,
            store.skin(0, cache.rest(cache.bodies[0]), origin=cache.origin, **settings) as skin,
        ):
            return np.array([skin.apply(n, origin=cache.origin).vertices for n in frames])

    def lag(self, cache, vertices):
        """How far vertices are from the nearest particles, in spacings: the hundredth part that is
        farthest."""
        with cache.open_store() as store:
            particles = store.read(0, END, solver.Channel.POSITION, origin=cache.origin)
            spacing = store.body_info(0).spacing
        nearest = [np.sqrt(((particles - v) ** 2).sum(1).min()) for v in vertices[::5]]
        return np.percentile(nearest, 99) / spacing

    def test_a_bake_writes_surfaces_that_have_turned_to_others(self):
        cache = self.bake("a", end=END)
        rows = self.rows(cache)
        numbers = range(1, END + 1)
        np.testing.assert_array_equal(rows, self.skinned(cache, numbers))
        # any other order gives the same
        np.testing.assert_array_equal(rows[::-1], self.skinned(cache, reversed(numbers)))
        np.testing.assert_array_equal(rows[-1:], self.skinned(cache, [END]))
        self.assertTrue(output.Output(cache, cache.bodies[0])._is_ready(cache.pc2_path(cache.bodies[0])))
        once = self.skinned(cache, numbers, rebind=0)
        first = np.flatnonzero((rows != once).any(axis=(1, 2)))[0]
        self.assertGreater(first, 2, "it has turned before it flowed")
        self.assertLess(self.lag(cache, rows[-1]), self.lag(cache, once[-1]))

    def test_a_bake_that_is_resumed_comes_to_the_same(self):
        whole = self.rows(self.bake("a"))
        job = plan.make_job(self.place / "b", shot())
        bake_scene.run_until(job, 17)
        self.assertEqual(job.state, jobs.CANCELLED)
        np.testing.assert_array_equal(self.rows(self.bake("b", plan.RESUME)), whole)
        self.assertFalse(np.array_equal(whole, self.skinned(job.cache, range(1, SOME + 1), rebind=0)))

    def test_what_only_bends_stays_bound(self):
        cache = self.bake("a", **{"yield": 1e6})
        numbers = range(1, SOME + 1)
        np.testing.assert_array_equal(self.rows(cache), self.skinned(cache, numbers, rebind=0))

    def test_a_skin_follows_a_store_that_is_baked_again(self):
        cache = self.bake("a")
        whole = self.rows(cache)
        with (
            cache.open_store("resume") as store,
            store.skin(0, cache.rest(cache.bodies[0]), origin=cache.origin) as skin,
        ):
            skin.apply(SOME, origin=cache.origin)
            with solver.Scene() as scene:
                number = store.restore(scene, 12)
                store.truncate(number)
                scene.set_gravity((0, 0, -9.81))
                for frame in range(number + 1, number + 6):
                    scene.advance(dt=1 / 24)
                    store.write_frame(scene, frame)
            found = skin.apply(number + 5, origin=cache.origin).vertices
            with store.skin(0, cache.rest(cache.bodies[0]), origin=cache.origin) as other:
                np.testing.assert_array_equal(other.apply(number + 5, origin=cache.origin).vertices, found)
            self.assertFalse(np.array_equal(found, whole[number + 4]))


if __name__ == "__main__":
    unittest.main()
