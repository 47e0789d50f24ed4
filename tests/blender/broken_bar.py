# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar that breaks, baked once, for the tests of its results."""

import tempfile
import unittest
from pathlib import Path

import bpy
import support

END = 12


class BrokenBar(unittest.TestCase):
    """Each test has a fresh file with the bake of what build() has made."""

    @classmethod
    def setUpClass(cls):
        cls.files = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.files.cleanup)
        cls.blend = str(Path(cls.files.name) / "bar.blend")
        cls.scene = support.fresh()
        cls.scene.frame_start, cls.scene.frame_end = 1, END
        cls.scene.use_gravity = False
        cls.build()
        bpy.ops.wm.save_as_mainfile(filepath=cls.blend)
        cls.bake()

    @classmethod
    def build(cls):
        """Makes an object "Bar"."""
        raise NotImplementedError

    @classmethod
    def bake(cls):
        """Bakes the file at cls.blend and saves it again."""
        raise NotImplementedError

    def setUp(self):
        bpy.ops.wm.open_mainfile(filepath=self.blend)
        self.scene = bpy.context.scene
        self.obj = self.scene.objects["Bar"]
        bpy.context.view_layer.objects.active = self.obj
