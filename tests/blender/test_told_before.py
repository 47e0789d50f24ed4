# SPDX-License-Identifier: GPL-3.0-or-later
"""Invalid scenes are refused before anything is simulated."""

import sys
from unittest import mock

import bpy
import support
from test_bake_operators import Bakes, caches, runs
from test_cli import SMALL, WithShot

capture = support.addon("blender.capture.capture")
WITHOUT = {"manifold3d": None, "pliant_native.manifold3d": None}


class BeforeTheBake(Bakes):
    def setUp(self):
        super().setUp()
        self.scene.frame_end = 6

    def test_package_that_cuts_is_missing(self):
        self.obj.pliant.fracture.use_fracture = True
        with mock.patch.dict(sys.modules, WITHOUT):
            self.refused("manifold3d", bpy.ops.pliant.bake)
            self.assertIn("manifold3d", capture.package_problem())
        self.assertFalse((self.place / "cache").exists())
        self.assertIsNone(capture.package_problem())

    def keyframe(self, what, values):
        material = self.obj.pliant.material
        for frame, value in values:
            setattr(material, what, value)
            material.keyframe_insert(what, frame=frame)

    def test_volume_that_is_switched_off_for_resampling_is_never_kept(self):
        material = self.obj.pliant.material
        material.use_pressure = material.use_plasticity = True
        self.keyframe("use_resample", [(1, False), (3, False), (4, True)])
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        self.assertIn("keeps no volume in any", runs.last_message[self.scene.name][1])
        self.assertTrue(self.cache.is_complete())

    def test_fracture_with_resampling_later_in_the_shot_is_refused(self):
        self.obj.pliant.fracture.use_fracture = True
        self.obj.pliant.material.use_plasticity = True
        self.keyframe("use_resample", [(1, False), (4, False), (5, True)])
        run = self.run_until(1)
        self.assertIn("switch off Resample or Fracture", self.to_the_end(run)[1])
        self.assertRaises(caches.CacheError, caches.Cache.open, self.place / "cache")


class CommandLine(WithShot):
    def test_missing_package_is_told_before_simulating(self):
        with mock.patch.dict(sys.modules, WITHOUT):
            code, said = self.bake("missing", "--set", "fracture.use_fracture=true")
        self.assertEqual(code, 5, said)
        self.assertIn("manifold3d", said)
        self.assertNotIn("Frame 1", said)
        self.assertFalse((self.folder / "missing").exists())

    def test_refused_pair_is_told_before_simulating(self):
        code, said = self.bake(
            "pair",
            "--set",
            "fracture.use_fracture=true",
            "--set",
            "material.use_plasticity=true",
            "--set",
            "material.use_resample=true",
            small=SMALL,
        )
        self.assertEqual(code, 4, said)
        self.assertIn("switch off Resample or Fracture", said)
        self.assertNotIn("Frame 1", said)
