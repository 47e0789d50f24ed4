# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that break along Voronoi cells: settings arrive, cracks lie on the cells' planes."""

import io
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

import bpy
import support
import numpy as np
from broken_bar import END, BrokenBar
from test_fracture import bar
from test_results_broken import volume_of

results, meshes, folders, settings, capture = (
    support.addon(name)
    for name in (
        "blender.results.results",
        "blender.meshes",
        "blender.folders",
        "blender.settings",
        "blender.capture.capture",
    )
)
fingerprint, patterns = support.addon("bake.fingerprint"), support.addon("bake.fracture_cells")
broken, cli, runs = support.addon("blender.results.fractured_mesh"), support.addon("cli"), support.addon("blender.runs")
session, solver = support.addon("preview.session"), support.addon("solver")
MIDDLES = np.array([[-0.75, 0, 0], [-0.3, 0.05, 0], [0.05, -0.06, 0.03], [0.42, 0.02, -0.05], [0.8, 0, 0]])


def points_object(places=MIDDLES, name="Middles"):
    """A mesh of vertices alone, away from the origin."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata((np.asarray(places) - (2, 0, 1)).tolist(), [], [])
    obj = bpy.data.objects.new(name, mesh)
    obj.location = (2, 0, 1)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def patterned():
    """A bar that is drawn out and breaks along cells about five points."""
    obj = bar()
    own = obj.pliant.fracture
    own.toughness, own.detail, own.roughness = 0.03, 3.0, 0.0
    own.breaks, own.cells_from, own.cells_object = "CELLS", "OBJECT", points_object()
    return obj


class Set(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_start, self.scene.frame_end = 1, 2
        self.scene.use_gravity = False
        self.files = tempfile.TemporaryDirectory()
        self.addCleanup(self.files.cleanup)
        self.scene.pliant.folder = str(Path(self.files.name) / "cache")

    def captured(self):
        bpy.context.view_layer.update()
        return capture.capture_all(bpy.context)

    def test_what_is_captured(self):
        obj = patterned()
        own = obj.pliant.fracture
        shot = self.captured()
        np.testing.assert_allclose(shot.bodies[0].pattern.points + np.array(shot.origin), MIDDLES, atol=1e-6)
        marks = fingerprint.fingerprint(shot)
        own.cells_from, own.cells, own.cell_seed = "COUNT", 9, 3
        found = self.captured().bodies[0].pattern
        self.assertEqual((found.count, found.size, found.seed, found.points), (9, 0, 3, None))
        self.assertEqual(marks.difference(fingerprint.fingerprint(self.captured()), 0), "the pattern of 'Bar'")
        own.cells_from, own.cell_size = "SIZE", 0.25
        self.assertAlmostEqual(self.captured().bodies[0].pattern.size, 0.25)
        own.breaks = "ANYWHERE"
        self.assertIsNone(self.captured().bodies[0].pattern)
        own.breaks, own.use_fracture = "CELLS", False
        self.assertIsNone(self.captured().bodies[0].pattern)

    def test_what_cannot_be_is_a_sentence(self):
        own = patterned().pliant.fracture
        own.cells_object = None
        with self.assertRaisesRegex(capture.CaptureError, "'Bar' is to break along cells .* choose a"):
            self.captured()
        own.cells_object = points_object(MIDDLES[:1], "One")
        with self.assertRaisesRegex(capture.CaptureError, "'One', which has 1 vertices"):
            self.captured()
        own.cells_object = points_object(MIDDLES[:2] + (0, 0, 90), "Far")
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        self.assertNotIn("one cell", runs.last_message[self.scene.name][1])
        own.cells_object = points_object(MIDDLES[[0, 0]] + ((0, 0, 0), (90, 0, 0)), "Away")
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        self.assertIn("one cell of its pattern", runs.last_message[self.scene.name][1])

    def test_count_and_size(self):
        own = patterned().pliant.fracture
        for chosen, low, high in (
            ({"cells_from": "COUNT", "cells": 11}, 11, 11),
            ({"cells_from": "SIZE", "cell_size": 0.3}, 5, 8),
            ({"cells_from": "COUNT", "cells": 300}, 300, 300),
        ):
            for name, value in chosen.items():
                setattr(own, name, value)
            self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
            cache = folders.cache_of(self.scene)
            count = len(cache.cells(cache.bodies[0]))
            self.assertTrue(low <= count <= high, (chosen, count))
        self.assertIn("particles in 2", runs.last_message[self.scene.name][1])

    def test_the_preview_shows_cells(self):
        obj = patterned()
        self.scene.frame_set(1)
        self.scene.pliant.preview_colour_by = "CELLS"
        session.start(self.scene)
        try:
            self.assertEqual(session.current().refused, {})
            shown = session.shown(obj)
            colours = np.empty(4 * len(obj.data.vertices), np.float32)
            obj.data.color_attributes["Pliant Clusters"].data.foreach_get("color", colours)
            colours = np.unique(colours.reshape(-1, 4).round(4), axis=0, return_inverse=True)[1]
            points = meshes.positions(obj.data)
            wanted = ((points[:, None] - MIDDLES) ** 2).sum(2).argmin(1)
            self.assertEqual(len(np.unique(colours)), 5)
            self.assertEqual(len(set(zip(colours.reshape(-1), wanted))), 5)
            self.assertEqual(len(np.unique(shown.particle_colours, axis=0)), 5)
            self.scene.pliant.preview_colour_by = "CLUSTERS"
            session.finish()
            self.assertGreater(len(np.unique(session.shown(obj).particle_colours, axis=0)), 5)
        finally:
            session.stop()


class Broken(BrokenBar):
    @classmethod
    def build(cls):
        patterned()

    @classmethod
    def bake(cls):
        with redirect_stdout(io.StringIO()):
            assert cli.main(["bake", "--blend", cls.blend, "--save", cls.blend]) == 0

    def test_pieces_are_whole_cells(self):
        mesh = self.obj.data
        self.assertTrue(self.obj.pliant.result.is_cut)
        cache = folders.cache_of(self.scene)
        with cache.open_store() as store:
            rest, piece = (
                store.read(0, END, channel, origin=(0, 0, 0)) for channel in (solver.Channel.REST, solver.Channel.PIECE)
            )
        cell = ((rest[:, None] - MIDDLES) ** 2).sum(2).argmin(1)
        of_cell = np.array([np.unique(piece[cell == c]) for c in range(len(MIDDLES))])
        self.assertEqual(of_cell.shape, (len(MIDDLES), 1))
        names, of_cell = np.unique(of_cell, return_inverse=True)
        self.assertGreater(len(names), 1)
        np.testing.assert_array_equal(np.unique(broken.values_of(mesh.attributes["piece"], "INT")), names)
        used = np.bincount([loop.edge_index for loop in mesh.loops], minlength=len(mesh.edges))
        self.assertEqual(set(used), {2})
        # each cell's part of the whole bar, by a fine grid
        grid = np.stack(
            np.meshgrid(*[np.linspace(-1, 1, n, endpoint=False) + 1 / n for n in (400, 40, 40)], indexing="ij"), -1
        ).reshape(-1, 3)
        grid *= (1, 0.15, 0.15)
        cell = ((grid[:, None] - MIDDLES) ** 2).sum(2).argmin(1)
        wanted = np.bincount(of_cell.reshape(-1)[cell]) / len(grid) * 2 * 0.3 * 0.3
        volumes = volume_of(meshes.positions(mesh), mesh)
        self.assertLess(abs(volumes.sum() / 0.18 - 1), 1e-5)
        np.testing.assert_allclose(volumes, wanted, rtol=0.01)

    def test_cracks_are_on_the_planes(self):
        mesh = self.obj.data
        inside = broken.values_of(mesh.attributes["inside"], "BOOLEAN")
        corners = meshes._corners(mesh)[np.repeat(inside, [p.loop_total for p in mesh.polygons])]
        at = meshes.positions(mesh)[np.unique(corners)].astype(np.float64)
        far = np.sort(np.sqrt(((at[:, None] - MIDDLES) ** 2).sum(2)), 1)
        cache = folders.cache_of(self.scene)
        with cache.open_store() as store:
            spacing = store.body_info(0).spacing
        off = (far[:, 1] - far[:, 0]) / 2  # no nearer than that to a plane
        self.assertLess(np.quantile(off, 0.95), 0.05 * spacing)
        self.assertLess(off.max(), 0.2 * spacing)

    def test_both_sides_are_one_until_the_birth(self):
        mesh = self.obj.data
        birth = broken.values_of(mesh.attributes["birth"], "FLOAT")
        _, place = np.unique(meshes.positions(mesh), axis=0, return_inverse=True)
        place = place.reshape(-1)
        plain = results.output_of(self.scene, self.obj)
        rows = np.array(list(results.shown_output(self.scene, self.obj, plain).local()))
        self.assertTrue(1 < birth.min() < END)
        for frame in range(1, END + 1):
            closed = np.flatnonzero(birth >= frame)
            leader = np.full(place.max() + 1, -1)
            leader[place[closed][::-1]] = closed[::-1]
            np.testing.assert_array_equal(rows[frame - 1][closed], rows[frame - 1][leader[place[closed]]])
        self.assertGreater(volume_of(rows[-1], mesh).min(), 0)

    def test_resumed_it_has_the_same_pattern(self):
        """The checkpoint has the points, whatever the object has become since."""
        cache = folders.cache_of(self.scene)
        points = cache.cells(cache.bodies[0])
        np.testing.assert_allclose(points + np.array(cache.origin), MIDDLES, atol=1e-5)
        with solver.Scene(threads=1) as scene, cache.open_store() as store:
            store.restore(scene)
            np.testing.assert_array_equal(patterns.read(scene.bodies()[0], cache.origin), points.astype(np.float32))


if __name__ == "__main__":
    unittest.main()
