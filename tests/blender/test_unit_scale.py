# SPDX-License-Identifier: GPL-3.0-or-later
"""The same shot in metres, centimetres and millimetres: equal pascals give equal shapes."""

import tempfile
import unittest

import bpy
import support
import numpy as np

capture, settings, meshes = (
    support.addon(name) for name in ("blender.capture.capture", "blender.settings", "blender.meshes")
)
hints = support.addon("ui.panels.hints")
SCALES = (1.0, 0.01, 0.001)
LAST = 16


class Scales(unittest.TestCase):
    def scene_of(self, metre, system="METRIC"):
        """Everything that Blender shows with a unit is as long as it is in metres."""
        self.metre = metre
        scene = support.fresh()
        scene.unit_settings.system, scene.unit_settings.scale_length = system, metre
        scene.gravity = (0, 0, -9.81 / metre)
        scene.frame_start, scene.frame_end = 1, LAST
        bpy.ops.mesh.primitive_plane_add(size=60 / metre)
        bpy.context.object.name = "Floor"
        bpy.context.object.pliant.role = "COLLIDER"
        return scene

    def add(self, name, x=0.0, z=0.5, **material):
        bpy.ops.mesh.primitive_cube_add(size=1 / self.metre, location=(x / self.metre, 0, z / self.metre))
        obj = bpy.context.object
        obj.name = name
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=3)
        bpy.ops.object.mode_set(mode="OBJECT")
        obj.pliant.role = "BODY"
        obj.pliant.particles.count = 300
        for key, value in material.items():
            setattr(obj.pliant.material, key, value)
        return obj

    def shapes(self, scene, *names):
        """Vertices of bodies at the last frame, in metres."""
        with tempfile.TemporaryDirectory() as folder:
            scene.pliant.folder = folder
            self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
            scene.frame_set(LAST)
            graph = bpy.context.evaluated_depsgraph_get()
            found = []
            for name in names:
                obj = scene.objects[name].evaluated_get(graph)
                matrix = np.array(obj.matrix_world)
                points = meshes.positions(obj.data) @ matrix[:3, :3].T + matrix[:3, 3]
                found.append(points * self.metre)
            return found

    def test_the_same_shapes(self):
        made = {}
        for metre in SCALES:
            scene = self.scene_of(metre)
            plain = {"goal": "RIGID", "use_pressure": False, "damping": 10.0, "density": 1000.0}
            self.add("Soft", stiffness_kind="YOUNG", young=30000.0, **plain)
            full = dict(plain, goal="LINEAR", use_pressure=True, pressure=60000.0)
            self.add("Full", 3.0, 0.6, stiffness_kind="YOUNG", young=5000.0, **full)
            self.add("Preset", 6.0, 1.0)
            hanging = [
                self.add(f"Hangs {strength}", 9.0 + 3 * i, 3.0, **plain) for i, strength in enumerate((3000, 1000000))
            ]
            for obj, strength in zip(hanging, (3000, 1000000)):
                bpy.ops.mesh.primitive_cube_add(size=1 / metre, location=(obj.location.x, 0, 4 / metre))
                bpy.context.object.pliant.role = "COLLIDER"
                bpy.context.object.pliant.collider.shape = "BOX"
                weld = obj.pliant.welds.add()
                weld.object, weld.strength = bpy.context.object, strength
            made[metre] = self.shapes(scene, "Soft", "Full", "Preset", "Hangs 3000", "Hangs 1000000")
        one = made[1.0]
        self.assertLess(np.ptp(one[0][:, 2]), 0.95)  # it does give way
        self.assertLess(one[3][:, 2].mean(), 2.0)  # torn off
        self.assertGreater(one[4][:, 2].mean(), 2.5)  # and not
        for metre in SCALES[1:]:
            for name, a, b in zip(("Young", "pressure", "preset", "weak", "strong"), one, made[metre]):
                worst = float(np.abs(a - b).max())
                self.assertLess(worst, 0.01, f"{name} at {metre}: {worst:.3f} m apart")

    def test_without_units_a_length_is_a_metre(self):
        scene = self.scene_of(0.01, "NONE")
        self.assertEqual(settings.metres(scene), 1.0)

    def test_odd_gravity_is_told(self):
        scene = self.scene_of(0.01)
        self.assertIsNone(hints.odd_gravity(scene))
        scene.gravity = (0, 0, -9.81)
        self.assertIn("0.0981 m/s²", hints.odd_gravity(scene))
        self.assertIn("981 in", hints.odd_gravity(scene))
        scene.unit_settings.scale_length = 1.0
        self.assertIsNone(hints.odd_gravity(scene))

    def test_pressure_of_a_preset_is_in_pascals(self):
        found = []
        for metre in SCALES:
            self.scene_of(metre)
            found.append(self.add("A").pliant.material.pressure)
        self.assertLess(max(found) / min(found), 1.001, found)


if __name__ == "__main__":
    unittest.main()
