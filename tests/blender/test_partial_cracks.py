# SPDX-License-Identifier: GPL-3.0-or-later
"""Cracks that separate nothing are cut into the mesh only if Partial Cracks is on."""

import tempfile
import unittest

import bpy
import support
import numpy as np
from test_fracture import bar

folders, results = support.addon("blender.folders"), support.addon("blender.results.results")
broken, meshes = support.addon("blender.results.fractured_mesh"), support.addon("blender.meshes")
bake_broken, Channel = support.addon("bake.fractured_output"), support.addon("solver").Channel


class PartialCracks(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_start, self.scene.frame_end = 1, 12
        self.scene.use_gravity = False
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.scene.pliant.folder = place.name + "/cache"
        self.obj = bar()
        self.own = self.obj.pliant.fracture
        self.own.toughness, self.own.detail = 0.08, 2.0
        self.obj.pliant.particles.count = 1500
        self.vertices = len(self.obj.data.vertices)

    def bake(self):
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        return folders.cache_of(self.scene)

    def hold_half(self):
        """One side of the bar never breaks: cracks end within it."""
        self.own.smallest_piece = 5
        group = self.obj.vertex_groups.new(name="Tough")
        group.add([v.index for v in self.obj.data.vertices if v.co.y > 0], 1.0, "REPLACE")
        paint = self.obj.pliant.paint
        paint.toughness_group, paint.toughness_zero, paint.toughness_one = "Tough", 1, 1000

    def test_a_body_of_one_piece_is_not_cut(self):
        self.hold_half()
        cache = self.bake()
        with bake_broken.store_of(cache) as store:
            self.assertGreater(store.body_info(0).splits, 0)
            self.assertEqual(len(np.unique(store.read(0, 12, Channel.PIECE))), 1)
        self.assertFalse(self.obj.pliant.result.is_cut)
        self.assertEqual(len(self.obj.data.vertices), self.vertices)
        self.own.use_partial = True
        bpy.ops.pliant.make_result(format="PC2")
        self.assertTrue(self.obj.pliant.result.is_cut)
        self.assertGreater(len(self.obj.data.vertices), self.vertices)

    def test_of_several_pieces_only_what_parts_them_is_cut(self):
        self.bake()
        self.assertTrue(self.obj.pliant.result.is_cut)
        fewer = len(self.obj.data.vertices)
        pieces = broken.values_of(self.obj.data.attributes["piece"], "INT").max()
        self.own.use_partial = True
        bpy.ops.pliant.make_result(format="PC2")
        self.assertGreaterEqual(len(self.obj.data.vertices), fewer)
        self.assertEqual(broken.values_of(self.obj.data.attributes["piece"], "INT").max(), pieces)


if __name__ == "__main__":
    unittest.main()
