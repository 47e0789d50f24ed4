# SPDX-License-Identifier: GPL-3.0-or-later
"""Pre-settle: pinned bodies start in equilibrium as modelled, and do not sag."""

import tempfile
import unittest

import bpy
import support
import numpy as np

meshes, hints, runs = (support.addon(name) for name in ("blender.meshes", "ui.panels.hints", "blender.runs"))
LAST = 16


class Presettle(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_start, self.scene.frame_end = 1, LAST
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.scene.pliant.folder = place.name + "/cache"

    def add(self, kind="cylinder", preset="Flesh", **settings):
        """A body along x, held at one end."""
        getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**settings)
        obj = bpy.context.object
        obj.modifiers.new("Dense", "SUBSURF").levels = 4
        obj.modifiers["Dense"].subdivision_type = "SIMPLE"
        bpy.ops.object.modifier_apply(modifier="Dense")
        obj.rotation_euler.y = 1.5707963
        bpy.ops.object.transform_apply(rotation=True)
        group = obj.vertex_groups.new(name="Held")
        x = meshes.positions(obj.data)[:, 0]
        group.add(np.flatnonzero(x < x.min() + 0.25 * np.ptp(x)).tolist(), 1, "ADD")
        obj.pliant.role = "BODY"
        obj.pliant.particles.count = 600
        bpy.ops.pliant.material_preset(name=preset)
        obj.pliant.material.frequency *= 2
        obj.pliant.start.use_pins, obj.pliant.start.pin_group = True, "Held"
        return obj

    def moved(self, obj):
        """How far the mesh is from where it was modelled at each frame, at most."""
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        found = []
        for frame in range(1, LAST + 1):
            self.scene.frame_set(frame)
            graph = bpy.context.evaluated_depsgraph_get()
            now = meshes.positions(obj.evaluated_get(graph).data)
            found.append(float(np.linalg.norm(now - meshes.positions(obj.data), axis=1).max()))
        return found

    def test_flesh_does_not_sag(self):
        obj = self.add(depth=2, radius=0.3)
        self.assertTrue(obj.pliant.start.use_presettle)
        settled = self.moved(obj)
        obj.pliant.start.use_presettle = False
        bpy.context.view_layer.update()
        sagging = self.moved(obj)
        self.assertLess(sagging[0], 1e-5)
        self.assertLess(settled[0], 0.01)
        self.assertGreater(max(sagging), 0.08)
        self.assertLess(max(settled), 0.1 * max(sagging), (settled, sagging))

    def test_sheets_fall_into_folds(self):
        obj = self.add("grid", "Sheet", x_subdivisions=8, y_subdivisions=8, size=1)
        falling = self.moved(obj)
        self.assertGreater(max(falling), 0.02)
        obj.pliant.start.use_presettle = False
        self.assertEqual(self.moved(obj), falling)

    def test_what_cannot_be_balanced_is_told(self):
        obj = self.add(depth=2, radius=0.3)
        self.assertEqual([hint.title for hint in hints.of(obj)], [])
        obj.pliant.material.goal = "QUADRATIC"
        self.assertEqual([hint.title for hint in hints.of(obj)], ["No pre-settle"])
        self.assertGreater(max(self.moved(obj)), 0.02)
        obj.pliant.material.goal = "RIGID"
        obj.pliant.material.frequency = 1
        self.moved(obj)
        self.assertIn("of its weight only", runs.last_message[self.scene.name][1])

    def test_it_is_part_of_what_a_bake_was_made_from(self):
        obj = self.add(depth=2, radius=0.3)
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        outdated = support.addon("ui.outdated")
        bpy.context.view_layer.update()
        self.assertEqual(outdated.look(self.scene), [])
        obj.pliant.start.use_presettle = False
        bpy.context.view_layer.update()
        self.assertIn("the pins of 'Cylinder'", " ".join(outdated.look(self.scene)))


if __name__ == "__main__":
    unittest.main()
