# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on is enabled in this Blender as an extension, and its library works."""

import unittest
from pathlib import Path

import bpy
import support


class Standing(unittest.TestCase):
    def test_is_enabled_as_an_extension(self):
        self.assertIn(support.PACKAGE, bpy.context.preferences.addons)
        folder = Path(support.addon().__file__).parent
        self.assertTrue(folder.samefile(support.ROOT / "addon"))
        self.assertIn("extensions", folder.parts)

    def test_is_left_and_entered_again(self):
        support.disable()
        self.assertNotIn(support.PACKAGE, bpy.context.preferences.addons)
        support.enable()
        self.assertIn(support.PACKAGE, bpy.context.preferences.addons)

    def test_library_loads(self):
        library = support.addon("solver.library").load()
        self.assertRegex(library.pliant_version().decode(), r"^\d+\.\d+\.\d+")

    def test_body_falls(self):
        solver = support.addon("solver")
        cube = [(x, y, z + 1) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
        faces = [
            (0, 1, 3),
            (0, 3, 2),
            (4, 6, 7),
            (4, 7, 5),
            (0, 4, 5),
            (0, 5, 1),
            (2, 3, 7),
            (2, 7, 6),
            (0, 2, 6),
            (0, 6, 4),
            (1, 5, 7),
            (1, 7, 3),
        ]
        with solver.Scene(threads=1) as scene:
            body = scene.add_body(cube, faces, sample={"count": 100})
            before = body.info.centre[2]
            scene.advance(dt=1 / 24)
            self.assertLess(body.info.centre[2], before)


if __name__ == "__main__":
    unittest.main()
