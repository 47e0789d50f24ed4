# SPDX-License-Identifier: GPL-3.0-or-later
"""Crack surfaces: closed fragments whose volumes add up, equal sides, layers kept."""

import sys
import unittest
from unittest import mock

import numpy as np
from fracture_scene import between, box, cloud, edges, open_edges, particles, sphere, uv_of, voronoi, volumes

from addon.fracture import CrackError, Look, Particles, Surface, binding, break_mesh, cut, pairs_of_groups, point_grid

SIZE, SPACING = np.array([1.0, 0.8, 0.4]), 0.1
HALVES = between(lambda p: p[:, 0] < 0.53)
SEEDS = np.random.default_rng(4).uniform(0, 1, (7, 3)) * SIZE


def cut_off_by_a_slit(a, b):
    """Pairs of particles on two sides of a plane that ends in the middle of the box."""
    return ((a[:, 0] < 0.53) != (b[:, 0] < 0.53)) & (a[:, 1] < 0.4) & (b[:, 1] < 0.4)


def broken_box(parted, number=(8, 6, 3), **look):
    surface = box(SIZE, number)
    look = Look(uv_layers=("uv",), **look)
    return surface, break_mesh(surface, particles(cloud(SIZE, SPACING), SPACING, parted), look)


def whole_volume(surface):
    return volumes(surface, np.zeros(len(surface.face_start) - 1, int), 1)[0]


class Fragments(unittest.TestCase):
    def check_solid(self, surface, broken, pieces):
        self.assertEqual(broken.warnings, [])
        self.assertEqual(broken.piece.max() + 1, pieces)
        self.assertEqual(open_edges(broken.surface), 0)
        a, b, face = edges(broken.surface)
        np.testing.assert_array_equal(broken.piece[a], broken.piece[b])
        np.testing.assert_array_equal(broken.piece[a], broken.face_piece[face])
        parts = volumes(broken.surface, broken.face_piece, pieces)
        self.assertGreater(parts.min(), 0)
        self.assertLess(abs(parts.sum() / whole_volume(surface) - 1), 1e-5)

    def test_halves_are_closed_and_sum_to_the_whole(self):
        surface, broken = broken_box(HALVES)
        self.check_solid(surface, broken, 2)
        share = volumes(broken.surface, broken.face_piece, 2) / whole_volume(surface)
        self.assertLess(abs(share[0] - 0.53), 0.05)

    def test_many_pieces_rough_or_not(self):
        for look in ({}, {"roughness": 0.15}, {"smoothing": 0.0}, {"detail": 5.0, "smoothing": 2.0}):
            with self.subTest(look):
                surface, broken = broken_box(between(voronoi(SEEDS)), **look)
                self.check_solid(surface, broken, len(SEEDS))

    def test_work_does_not_grow_with_the_pieces(self):
        """However many there are: one boolean of two solids, and cells are bound in blocks."""
        for parted, pieces in ((HALVES, 2), (between(voronoi(SEEDS)), len(SEEDS))):
            surface, given = box(SIZE, (8, 6, 3)), particles(cloud(SIZE, SPACING), SPACING, parted)
            solids, searches, blocks = [], [], []
            solid, every, followed = cut.solid, point_grid.PointGrid.every, binding.followed
            count = lambda calls, function, size: lambda *given: (  # noqa: E731
                calls.append(size(given)),
                function(*given),
            )[1]
            with (
                mock.patch.object(cut, "solid", count(solids, solid, lambda g: len(g[3]))),
                mock.patch.object(point_grid.PointGrid, "every", count(searches, every, lambda g: len(g[1]))),
                mock.patch.object(binding, "followed", count(blocks, followed, lambda g: len(g[4]))),
                mock.patch.object(point_grid.PointGrid, "near", None),
            ):
                broken = break_mesh(surface, given)
            self.assertEqual(broken.piece.max() + 1, pieces)
            self.assertEqual(len(solids), 2)
            self.assertEqual(solids[0], 2 * (len(surface.face_start) - 1))
            # no triangle of the cracks that is not in the result, but for the hull around the body
            self.assertLess(solids[1], 3 * broken.inside.sum() + 20000)
            self.assertLess(len(blocks), len(np.unique(broken.copy)) / binding.CELLS + 1)
            self.assertEqual(sum(blocks), len(np.unique(broken.copy)))
            self.assertLess(len(searches), len(blocks) + 2)

    def test_sphere_far_from_the_origin(self):
        surface = sphere(24, 32, 0.5)
        surface.vertices += [1000.0, -2000.0, 500.0]
        rest = cloud((1, 1, 1), SPACING) + surface.vertices.min(0)
        rest = rest[((rest - surface.vertices.mean(0)) ** 2).sum(1) < 0.25]
        seeds = surface.vertices.mean(0) + np.random.default_rng(1).normal(0, 0.2, (6, 3))
        broken = break_mesh(surface, particles(rest, SPACING, between(voronoi(seeds))))
        self.check_solid(surface, broken, broken.piece.max() + 1)
        self.assertGreater(broken.piece.max(), 3)

    def test_slit_stays_one_piece_with_a_shared_tip(self):
        surface, broken = broken_box(cut_off_by_a_slit)
        self.check_solid(surface, broken, 1)
        place, number = np.unique(broken.surface.vertices, axis=0, return_counts=True)
        on_crack = np.isfinite(broken.birth)
        crack_place, crack_number = np.unique(broken.surface.vertices[on_crack], axis=0, return_counts=True)
        self.assertGreater((crack_number == 2).sum(), 100)  # two sides
        self.assertGreater((crack_number == 1).sum(), 3)  # the tip
        tips = crack_place[crack_number == 1]
        self.assertLess(np.abs(tips[:, 1] - 0.4).max(), 2 * SPACING)
        self.assertLess((number > 2).sum(), 0.01 * len(place))

    def test_nothing_is_left_without_a_piece_of_its_particles(self):
        _, broken = broken_box(between(voronoi(SEEDS)))
        sides = voronoi(SEEDS)(cloud(SIZE, SPACING))
        for piece in range(len(SEEDS)):
            self.assertEqual(len(np.unique(sides[broken.copy[broken.piece == piece]])), 1)

    def test_the_same_again_to_the_bit(self):
        one, two = (broken_box(between(voronoi(SEEDS)), roughness=0.1)[1] for _ in range(2))
        np.testing.assert_array_equal(one.surface.vertices, two.surface.vertices)
        np.testing.assert_array_equal(one.surface.corners, two.surface.corners)
        np.testing.assert_array_equal(one.binding.kernel, two.binding.kernel)


class Sides(unittest.TestCase):
    def test_both_sides_coincide(self):
        for parted in (HALVES, cut_off_by_a_slit, between(voronoi(SEEDS))):
            _, broken = broken_box(parted, roughness=0.1)
            _, place, number = np.unique(broken.surface.vertices, axis=0, return_inverse=True, return_counts=True)
            on_crack = np.isfinite(broken.birth)
            alone = on_crack & (number[place.ravel()] == 1)
            tips = 0.12 if parted is cut_off_by_a_slit else 0.0
            self.assertLessEqual(alone.sum() / on_crack.sum(), tips)
            # every crack face has its counterpart
            faces = [
                tuple(sorted(place.ravel()[f]))
                for f, inside in zip(np.split(broken.surface.corners, broken.surface.face_start[1:-1]), broken.inside)
                if inside and len(f) == 4
            ]
            self.assertGreater(len(faces), 50)
            _, times = np.unique(faces, axis=0, return_counts=True)
            self.assertEqual(set(times), {2})

    def test_roughness_moves_the_cracks_and_nothing_else(self):
        even = particles(cloud(SIZE, SPACING, jitter=0), SPACING, between(lambda p: p[:, 0] < 0.5))
        smooth, rough = (break_mesh(box(SIZE), even, Look(roughness=r)) for r in (0.0, 0.3))
        x = [b.surface.vertices[np.isfinite(b.birth), 0] for b in (smooth, rough)]
        self.assertLess(x[0].std(), 0.01 * SPACING)
        self.assertGreater(x[1].std(), 0.05 * SPACING)
        self.assertLess(np.abs(x[1] - 0.5).max(), 0.6 * SPACING)
        for broken in (smooth, rough):
            outer = broken.surface.corners[: broken.surface.face_start[(~broken.inside).sum()]]
            on_box = np.minimum(broken.surface.vertices[outer], SIZE - broken.surface.vertices[outer])
            self.assertLess(np.abs(on_box.min(1)).max(), 1e-9)

    def test_split_planes_flatten_the_crack(self):
        def spread(planes):
            body = particles(cloud(SIZE, SPACING), SPACING, HALVES)
            if planes:
                body.plane_point, body.plane_normal = np.array([[0.53, 0.4, 0.2]]), np.array([[1, 0, 0]])
                body.plane_reach, body.plane_time = np.array([2.0]), np.array([5.0])
            broken = break_mesh(box(SIZE), body)
            return np.sqrt(((broken.surface.vertices[np.isfinite(broken.birth), 0] - 0.53) ** 2).mean())

        self.assertLess(spread(True), 0.5 * spread(False))

    def test_along_a_pattern_pieces_are_its_cells(self):
        """Flat between any two, rough where asked for; volumes are those of the cells."""
        spacing, whole = 0.07, SIZE.prod()
        rest = cloud(SIZE, spacing)
        grid = (
            np.stack(np.meshgrid(*[np.arange(n) for n in (100, 80, 40)], indexing="ij"), -1).reshape(-1, 3) + 0.5
        ) * 0.01
        wanted = np.bincount(voronoi(SEEDS)(grid)) / len(grid) * whole
        points = np.concatenate([SEEDS, [[9.0, 9.0, 9.0]]])  # one that nobody is near
        off = {}
        for roughness in (0, 0.2):
            given = particles(rest, spacing, between(voronoi(SEEDS)))
            given.cell_point = points
            broken = break_mesh(box(SIZE, (8, 6, 3)), given, Look(roughness=roughness))
            self.assertEqual((open_edges(broken.surface), broken.warnings), (0, []))
            volume = volumes(broken.surface, broken.face_piece, len(SEEDS))
            self.assertLess(abs(volume.sum() / whole - 1), 1e-5)
            np.testing.assert_allclose(np.sort(volume), np.sort(wanted), rtol=0.03)
            face = np.repeat(broken.inside, np.diff(broken.surface.face_start))
            at = broken.surface.vertices[np.unique(broken.surface.corners[face])]
            far = np.sort(np.sqrt(((at[:, None] - SEEDS) ** 2).sum(2)), 1)
            off[roughness] = np.sort(far[:, 1] - far[:, 0]) / 2 / spacing
        self.assertLess(off[0].mean(), 0.004)
        self.assertLess(off[0][-len(off[0]) // 100], 0.04)
        self.assertLess(off[0][-1], 0.2)
        self.assertGreater(off[0.2].mean(), 10 * off[0].mean())

    def test_births_are_those_of_the_partings(self):
        body = particles(cloud(SIZE, SPACING), SPACING, HALVES)
        a, b = (body.rest[body.pairs[:, k]] for k in (0, 1))
        body.until[(a[:, 1] < 0.4) != (b[:, 1] < 0.4)] = 9.0
        body.until[(a[:, 0] < 0.53) != (b[:, 0] < 0.53)] = 5.0
        broken = break_mesh(box(SIZE), body)
        self.assertEqual(broken.piece.max() + 1, 4)
        self.assertEqual(set(broken.face_birth[broken.inside]), {5.0, 9.0})
        self.assertTrue((broken.face_birth[~broken.inside] == np.inf).all())
        self.assertEqual(set(broken.birth), {5.0, 9.0, np.inf})


class Carried(unittest.TestCase):
    def setUp(self):
        self.surface, self.broken = broken_box(between(voronoi(SEEDS)), number=(4, 3, 2))
        made = self.broken.surface
        self.sizes = np.diff(made.face_start)
        self.face = np.repeat(np.arange(len(self.sizes)), self.sizes)
        self.outside = ~self.broken.inside[self.face]

    def test_uvs_are_exact_on_flat_faces(self):
        made = self.broken.surface
        side = made.face_layers["side"][self.face]
        expected = uv_of(made.vertices[made.corners], side)
        np.testing.assert_allclose(made.corner_layers["uv"][self.outside], expected[self.outside], atol=1e-9)

    def test_point_layers_are_interpolated(self):
        made = self.broken.surface
        at = np.unique(made.corners[self.outside])
        expected = 1 + 2 * made.vertices[at, 0] + made.vertices[at, 1]
        np.testing.assert_allclose(made.point_layers["group"][at, 0], expected, atol=1e-6)
        self.assertGreaterEqual(made.point_layers["group"].min(), 1)  # inside: what is around

    def test_materials_are_kept_and_cracks_have_their_own(self):
        made, old = self.broken.surface, self.surface
        source = self.broken.source_face
        np.testing.assert_array_equal(made.material[source >= 0], old.material[source[source >= 0]])
        self.assertEqual(set(made.material[self.broken.inside]), {3})
        chosen = broken_box(HALVES, inside_material=1)[1]
        self.assertEqual(set(chosen.surface.material[chosen.inside]), {1})

    def test_old_vertices_stay_where_they_were(self):
        origin = self.broken.source_vertex
        np.testing.assert_array_equal(
            self.broken.surface.vertices[origin >= 0], self.surface.vertices[origin[origin >= 0]]
        )
        self.assertEqual(len(np.unique(origin[origin >= 0])), len(self.surface.vertices))

    def test_polygons_that_no_crack_touches_survive(self):
        surface, broken = broken_box(HALVES)
        quads = (np.diff(broken.surface.face_start) == 4) & ~broken.inside
        self.assertGreater(quads.sum(), 0.7 * len(surface.material))
        kept = broken.source_face[quads]
        for new, old in zip(np.flatnonzero(quads)[:20], kept):
            corners = broken.surface.corners[4 * new : 4 * new + 4]
            np.testing.assert_array_equal(broken.source_vertex[corners], surface.corners[4 * old : 4 * old + 4])

    def test_polygons_of_many_corners(self):
        angle = np.arange(12) * np.pi / 6
        ring = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(np.arange(12) % 2, 1, 0.4)[:, None]
        vertices = np.concatenate([np.column_stack([ring, np.full(12, z)]) for z in (0, 0.4)])
        faces = [list(range(11, -1, -1)), list(range(12, 24))]
        faces += [[i, (i + 1) % 12, 12 + (i + 1) % 12, 12 + i] for i in range(12)]
        surface = Surface(vertices, np.r_[0, np.cumsum([len(f) for f in faces])], np.concatenate(faces))
        rest = cloud((2, 2, 0.4), 0.1) - [1, 1, 0]
        broken = break_mesh(surface, particles(rest, 0.1, between(lambda p: p[:, 0] < 0.05)))
        self.assertEqual(open_edges(broken.surface), 0)
        parts = volumes(broken.surface, broken.face_piece, broken.piece.max() + 1)
        self.assertLess(abs(parts.sum() / whole_volume(surface) - 1), 1e-5)

    def test_custom_normals_stay_unit(self):
        surface = sphere(16, 24, 0.5)
        surface.corner_layers["normal"] = surface.vertices[surface.corners] / 0.5
        surface.normals = ("normal",)
        rest = cloud((1, 1, 1), SPACING) - 0.5
        broken = break_mesh(surface, particles(rest, SPACING, between(lambda p: p[:, 0] < 0.03)))
        normal = broken.surface.corner_layers["normal"]
        np.testing.assert_allclose((normal**2).sum(1), 1, atol=1e-6)
        outside = ~np.repeat(broken.inside, np.diff(broken.surface.face_start))
        place = broken.surface.vertices[broken.surface.corners]
        self.assertGreater((normal * place).sum(1)[outside].min(), 0.45)
        self.assertGreater(np.abs(normal[~outside][:, 0]).mean(), 0.8)


class OtherMeshes(unittest.TestCase):
    def test_open_mesh_comes_apart_along_its_faces(self):
        whole = box(SIZE, (8, 6, 3))
        keep = np.flatnonzero(whole.face_layers["side"] == 5)
        sheet = Surface(
            whole.vertices,
            np.arange(len(keep) + 1) * 4,
            whole.corners.reshape(-1, 4)[keep].ravel(),
            whole.material[keep],
        )
        sheet.corner_layers["uv"] = whole.corner_layers["uv"].reshape(-1, 4, 2)[keep].reshape(-1, 2)
        broken = break_mesh(sheet, particles(cloud(SIZE, SPACING), SPACING, HALVES))
        self.assertIn("not a closed solid", broken.warnings[0])
        self.assertEqual(len(broken.inside), len(keep))
        self.assertFalse(broken.inside.any())
        a, b, face = edges(broken.surface)
        faces = broken.face_piece[face]
        self.assertEqual(set(faces), {0, 1})
        np.testing.assert_array_equal(broken.piece[a], faces)
        np.testing.assert_array_equal(broken.surface.vertices, sheet.vertices[broken.source_vertex])
        np.testing.assert_array_equal(broken.surface.corner_layers["uv"], sheet.corner_layers["uv"])
        on_crack = np.isfinite(broken.birth)
        _, number = np.unique(broken.source_vertex[on_crack], return_counts=True)
        self.assertEqual(set(number), {2})

    def test_slit_in_an_open_mesh_keeps_its_tip(self):
        whole = box(SIZE, (16, 12, 3))
        keep = np.flatnonzero(whole.face_layers["side"] == 5)
        sheet = Surface(whole.vertices, np.arange(len(keep) + 1) * 4, whole.corners.reshape(-1, 4)[keep].ravel())
        broken = break_mesh(sheet, particles(cloud(SIZE, SPACING), SPACING, cut_off_by_a_slit))
        self.assertEqual(broken.piece[np.unique(broken.surface.corners)].max(), 0)
        _, number = np.unique(broken.source_vertex[np.isfinite(broken.birth)], return_counts=True)
        self.assertEqual(sorted(set(number)), [1, 2])
        self.assertEqual((number == 1).sum(), 1)

    def test_edge_of_three_faces(self):
        surface = box(SIZE, (8, 6, 3))
        wall = surface.corners[:2]
        surface = Surface(
            np.vstack([surface.vertices, [[-0.3, 0.1, 0.1]]]),
            np.r_[surface.face_start, len(surface.corners) + 3],
            np.r_[surface.corners, wall, len(surface.vertices)],
        )
        broken = break_mesh(surface, particles(cloud(SIZE, SPACING), SPACING, HALVES))
        self.assertIn("not a closed solid", broken.warnings[0])
        self.assertEqual(len(broken.face_piece), len(surface.face_start) - 1)

    def test_inside_out_mesh(self):
        surface = box(SIZE, (4, 3, 2))
        surface.corners = surface.corners.reshape(-1, 4)[:, ::-1].ravel()
        broken = break_mesh(surface, particles(cloud(SIZE, SPACING), SPACING, HALVES))
        self.assertIn("could not be cut as a solid", broken.warnings[0])

    def test_no_cracks_leave_the_mesh_untouched(self):
        surface, broken = broken_box(None)
        self.assertTrue(broken.untouched)
        self.assertIs(broken.surface, surface)
        self.assertEqual(broken.piece.max(), 0)
        self.assertTrue((broken.birth == np.inf).all())

    def test_mesh_without_faces(self):
        empty = Surface(np.zeros((0, 3)), np.zeros(1, int), np.zeros(0, int))
        broken = break_mesh(empty, particles(cloud(SIZE, SPACING), SPACING, HALVES))
        self.assertTrue(broken.untouched)

    def test_bad_input_gets_a_sentence(self):
        body = particles(cloud(SIZE, SPACING), SPACING, HALVES)
        surface = box(SIZE)
        surface.corner_layers["uv"] = np.zeros((3, 2))
        with self.assertRaisesRegex(CrackError, "layer 'uv' has 3 rows, not 24"):
            break_mesh(surface, body)
        surface = box(SIZE)
        surface.vertices[5] = np.nan
        with self.assertRaisesRegex(CrackError, "Vertex 5"):
            break_mesh(surface, body)
        with self.assertRaisesRegex(CrackError, "without particles"):
            break_mesh(box(SIZE), Particles(np.zeros((0, 3)), [], [], np.zeros((0, 2)), []))
        body.pairs[3, 1] = 10**6
        with self.assertRaisesRegex(CrackError, "particle 1000000"):
            break_mesh(box(SIZE), body)

    def test_without_the_library_there_is_a_sentence(self):
        with mock.patch.dict(sys.modules, {"manifold3d": None}):
            with self.assertRaisesRegex(CrackError, "manifold3d.*is not installed"):
                broken_box(HALVES)
            self.assertTrue(broken_box(None)[1].untouched)

    def test_pairs_of_groups(self):
        pairs = pairs_of_groups(np.array([0, 3, 5]), np.array([4, 1, 2, 2, 1]))
        self.assertEqual(pairs.tolist(), [[1, 2], [1, 4], [2, 4]])

    def test_closed_means_each_edge_twice(self):
        tetrahedron = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
        self.assertTrue(cut.closed(tetrahedron))
        self.assertFalse(cut.closed(tetrahedron[:3]))
        self.assertFalse(cut.closed(np.vstack([tetrahedron, tetrahedron])))


if __name__ == "__main__":
    unittest.main()
