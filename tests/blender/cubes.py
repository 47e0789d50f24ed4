# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubes above each other, and their shot."""

import unittest

import bpy
import support

capture = support.addon("blender.capture.capture")


def add(name, z=0.0, role="BODY"):
    bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, z))
    obj = bpy.context.object
    obj.name = name
    if role:
        obj.pliant.role = role
    if role == "BODY":
        obj.pliant.particles.mode, obj.pliant.particles.count = "COUNT", 150
    return obj


class Cubes(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_start, self.scene.frame_end = 1, 3

    def capture(self):
        bpy.context.view_layer.update()
        return capture.capture_all(bpy.context)
