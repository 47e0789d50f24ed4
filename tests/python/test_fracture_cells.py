# SPDX-License-Identifier: GPL-3.0-or-later
"""Cells of particle copies, parting times of neighbours, and copies divided by a plane."""

import unittest

import numpy as np
from fracture_scene import box, cloud, near_pairs, open_edges, particles, volumes

from addon.fracture import Look, Particles, break_mesh, cells, graph
from addon.fracture.point_grid import PointGrid

SIZE, SPACING = np.array([1.1, 0.6, 0.4]), 0.1


def divided_bar(time=5.0):
    """A bar whose middle layer of particles was divided by the plane x = 0.55: the copies go right."""
    rest = cloud(SIZE, SPACING, jitter=0.0)
    count, pairs = len(rest), near_pairs(rest, 2.5 * SPACING)
    middle = np.flatnonzero(np.abs(rest[:, 0] - 0.55) < 1e-6)
    x = rest[:, 0] - 0.55
    right = x > 1e-6
    until = np.where(right[pairs[:, 0]] != right[pairs[:, 1]], time, np.inf)
    copies = count + np.arange(len(middle))
    number = np.full(count, -1)
    number[middle] = copies
    # the copies have their originals' bonds among themselves and to the right
    renamed = np.where(right, np.arange(count), number)[pairs]
    kept = (renamed >= 0).all(1) & (renamed >= count).any(1)
    nothing = np.full(count, -1)
    return Particles(
        np.vstack([rest, rest[middle]]),
        np.r_[nothing, middle],
        np.r_[np.full(count, -np.inf), np.full(len(middle), time)],
        np.vstack([pairs, renamed[kept]]),
        np.r_[until, np.full(kept.sum(), np.inf)],
        SPACING,
        split_old=middle,
        split_new=copies,
        split_point=np.tile([0.55, 0, 0], (len(middle), 1)),
        split_normal=np.tile([1.0, 0, 0], (len(middle), 1)),
        split_time=np.full(len(middle), time),
    )


class Cells(unittest.TestCase):
    def test_boxes_belong_to_the_nearest_particle(self):
        rest = cloud(SIZE, SPACING)
        body = particles(rest, SPACING)
        space = cells.divide(body, np.zeros(3), SIZE, SPACING, Look())
        points = np.random.default_rng(2).uniform(0, 1, (500, 3)) * SIZE
        middle = space.origin + (space.box_of(points) + 0.5) * space.step
        nearest = ((middle[:, None] - rest) ** 2).sum(2).argmin(1)
        np.testing.assert_array_equal(space.copy_at(points), nearest)
        self.assertGreaterEqual(space.copy.min(), 0)

    def test_grid_stays_within_bounds(self):
        body = particles(cloud(SIZE, SPACING), SPACING)
        space = cells.divide(body, np.zeros(3), SIZE * 100, SPACING, Look(most_cells=50_000))
        self.assertLess(space.copy.size, 80_000)

    def test_several_particles_in_one_box(self):
        rest = np.vstack([cloud(SIZE, SPACING), cloud(SIZE, SPACING) + 1e-3])
        space = cells.divide(particles(rest, SPACING), np.zeros(3), SIZE, SPACING, Look())
        self.assertEqual(len(np.unique(space.copy)), len(rest))

    def test_copies_share_a_cell_by_their_plane(self):
        body = divided_bar()
        space = cells.divide(body, np.zeros(3), SIZE, SPACING, Look())
        for copy, parent in zip(body.split_new, body.split_old):
            self.assertGreater(
                np.argwhere(space.copy == copy)[:, 0].min(), np.argwhere(space.copy == parent)[:, 0].max()
            )


class Partings(unittest.TestCase):
    def times(self, body, *pairs):
        a, b = np.array(pairs).T
        return cells.Partings(body, SPACING).times(a, b).tolist()

    def test_ancestors_count_until_a_birth(self):
        rest = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0.1, 0, 0], [0.1, 0, 0]])
        body = Particles(
            rest, [-1, -1, -1, 1, 3], [-np.inf] * 3 + [4.0, 7.0], [[0, 1], [1, 2], [2, 4]], [np.inf, 2.0, np.inf]
        )
        body.pairs, body.until = np.array(body.pairs), np.array(body.until)
        body.parent, body.birth = np.array(body.parent), np.array(body.birth)
        # listed; a copy and its origin; a copy and what its ancestors were bound to; a copy's copy
        self.assertEqual(
            self.times(body, (0, 1), (1, 3), (0, 3), (0, 4), (3, 4), (2, 4), (2, 3)),
            [np.inf, 4.0, 4.0, 4.0, 7.0, np.inf, 2.0],
        )

    def test_a_third_one_holds_neighbours_that_share_no_cluster(self):
        rest = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.05, 0.05, 0], [0.9, 0, 0], [1.0, 0, 0]])
        body = Particles(
            rest, np.full(5, -1), np.full(5, -np.inf), np.array([[0, 2], [1, 2], [1, 3]]), np.array([np.inf, 6.0, 4.0])
        )
        # by a third one near both; by the way through others; not at all
        self.assertEqual(self.times(body, (0, 1), (0, 3), (0, 4)), [6.0, 4.0, -np.inf])

    def test_the_latest_of_several_entries_counts(self):
        body = Particles(
            np.eye(3),
            np.full(3, -1),
            np.full(3, -np.inf),
            np.array([[0, 1], [1, 0], [0, 1]]),
            np.array([2.0, 8.0, 3.0]),
        )
        self.assertEqual(self.times(body, (0, 1), (1, 0)), [8.0, 8.0])


class Divided(unittest.TestCase):
    def test_a_bar_divided_through_its_particles(self):
        surface = box(SIZE, (5, 3, 2))
        broken = break_mesh(surface, divided_bar())
        self.assertEqual(open_edges(broken.surface), 0)
        share = volumes(broken.surface, broken.face_piece, 2) / SIZE.prod()
        np.testing.assert_allclose(share, [0.5, 0.5], atol=2e-3)
        np.testing.assert_allclose(broken.surface.vertices[np.isfinite(broken.birth), 0], 0.55, atol=1e-3)
        self.assertEqual(set(broken.face_birth[broken.inside]), {5.0})


class Graph(unittest.TestCase):
    def test_components(self):
        label = graph.components(7, np.array([5, 1, 2]), np.array([6, 2, 0]))
        self.assertEqual(label.tolist(), [0, 0, 0, 1, 2, 3, 3])

    def test_widest_way(self):
        around = graph.Neighbours(5, np.array([[0, 1], [1, 2], [0, 2], [2, 3]]), np.array([np.inf, 4.0, 2.0, 9.0]))
        self.assertEqual(around.widest(0, np.arange(5)).tolist(), [np.inf, np.inf, 4.0, 4.0, -np.inf])
        self.assertEqual(around.widest(0, np.array([0, 2, 3])).tolist(), [np.inf, 2.0, 2.0])

    def test_widest_ways_of_many_at_once(self):
        """The same as one by one, and so are balls."""
        rest = np.random.default_rng(5).uniform(0, 1, (400, 3))
        pairs = near_pairs(rest, 0.15)
        width = np.random.default_rng(6).choice([1.0, 2.0, np.inf], len(pairs))
        around, grid = graph.Neighbours(len(rest), pairs, width), PointGrid(rest, 0.1)
        starts = np.array([3, 7, 100, 399])
        radii = np.array([0.2, 0.31, 0.05, 0.4])
        begin, found = grid.every(rest[starts], radii)
        reached = around.widest_of_many(starts, begin, found)
        for k, start in enumerate(starts):
            own = slice(begin[k], begin[k + 1])
            np.testing.assert_array_equal(found[own], grid.near(rest[start], radii[k]))
            np.testing.assert_array_equal(reached[own], around.widest(start, found[own]))
        self.assertGreater(len(np.unique(reached)), 3)
        begin, found = grid.every(rest[:2] + 50, radii[:2])
        self.assertEqual((begin.tolist(), len(found)), ([0, 0, 0], 0))

    def test_same_places(self):
        points = np.random.default_rng(0).uniform(-1, 1, (500, 3))
        place = graph.same_places(np.vstack([points, points + 1e-14]), 1e-6)
        np.testing.assert_array_equal(place[:500], place[500:])
        self.assertEqual(len(np.unique(place)), 500)


if __name__ == "__main__":
    unittest.main()
