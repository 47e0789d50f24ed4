# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials by name: built-in ones fit the object, the user's are saved and restored."""

import os
import unittest

import bpy
import support
import numpy as np

presets = support.addon("blender.presets")
settings = support.addon("blender.settings")
meshes = support.addon("blender.meshes")
solver = support.addon("solver")


def ball(radius=1.0):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=radius)
    obj = bpy.context.object
    obj.pliant.role = "BODY"
    obj.pliant.particles.count = 400
    return obj


def drop(obj, frames=72, centres=False, widths=False):
    """Heights of the ball over its diameter, dropped by its own height; or those of its centre, or
    its widths."""
    vertices, faces = meshes.positions(obj.data), meshes.triangles(obj.data)
    height = float(np.ptp(vertices[:, 2]))
    vertices = vertices + np.array([0, 0, height * 1.5], np.float32)
    heights = []
    with solver.Scene(threads=1) as scene:
        body = scene.add_body(
            vertices, faces, **settings.body(obj.pliant), material=settings.material(obj.pliant.material)
        )
        scene.add_collider(solver.Shape.PLANE)
        skin = body.skin(vertices)
        for _ in range(frames):
            scene.advance(dt=1 / 24)
            moved = skin.apply().vertices
            found = moved[:, 2].mean() if centres else np.ptp(moved[:, 0 if widths else 2])
            heights.append(float(found) / height)
    return np.array(heights)


class Own(unittest.TestCase):
    def setUp(self):
        support.fresh()

    def test_every_material_is_a_whole_set_of_settings(self):
        obj = ball()
        for name in presets.TABLE:
            with self.subTest(name):
                self.assertEqual(bpy.ops.pliant.material_preset(name=name), {"FINISHED"})
                self.assertEqual(obj.pliant.material.preset, name)
                for key, value in presets.values(name, 2.0).items():
                    found = getattr(obj.pliant.material, key)
                    if isinstance(value, float):
                        self.assertAlmostEqual(found / value if value else found + 1, 1, places=3, msg=key)
                    else:
                        self.assertEqual(found, value, key)

    @support.oldest_and_newest
    def test_dropped_balls_look_like_their_material(self):
        lowest, settled = {}, {}
        for name in presets.TABLE:
            obj = ball()
            presets.apply(obj, name)
            heights = drop(obj)
            self.assertTrue(np.isfinite(heights).all(), name)
            if name != "Sheet":  # of which nothing is left but what lies on the floor
                self.assertGreater(heights.min(), 0.1, f"{name} is flattened")
            self.assertLess(heights.max(), 1.6, f"{name} blows up")
            lowest[name], settled[name] = heights.min(), heights[-24:].mean()
        self.assertGreater(lowest["Tyre"], lowest["Rubber"])
        self.assertGreater(lowest["Rubber"], lowest["Jelly"])
        for name in ("Rubber", "Tyre", "Foam"):
            self.assertGreater(settled[name], 0.7, name)

    @support.oldest_and_newest
    def test_materials_bounce_as_their_names_say(self):
        """How much of its fall a ball comes back up."""
        bounce = {}
        for name in (
            "Rubber",
            "Jelly",
            "Foam",
            "Flesh",
            "Balloon",
            "Tyre",
            "Plush",
            "Clay",
            "Dough",
            "Lead",
            "Wax",
            "Snow",
        ):
            obj = ball()
            presets.apply(obj, name)
            heights = drop(obj, centres=True)
            low = int(heights[:30].argmin())
            bounce[name] = (heights[low : low + 30].max() - 0.5) / 1
        self.assertGreater(bounce["Rubber"], 0.6, bounce)
        for name in ("Tyre", "Jelly"):
            self.assertTrue(0.3 < bounce[name] < bounce["Rubber"], bounce)
        for name in ("Foam", "Flesh", "Balloon"):
            self.assertLess(bounce[name], 0.45, bounce)
        for name in ("Plush", "Clay", "Dough", "Lead", "Wax", "Snow"):
            self.assertLess(bounce[name], 0.25, bounce)

    @support.oldest_and_newest
    def test_what_is_filled_bulges_where_it_is_squashed(self):
        for name, least in (("Rubber", 1.04), ("Jelly", 1.08), ("Flesh", 1.05)):
            obj = ball()
            presets.apply(obj, name)
            wide = drop(obj, 40, widths=True)
            self.assertGreater(wide.max(), least, name)

    def test_an_open_mesh_is_a_sheet_that_folds(self):
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20, size=2)
        obj = bpy.context.object
        obj.pliant.role = "BODY"
        self.assertEqual(obj.pliant.material.preset, "Sheet")
        self.assertEqual(obj.pliant.clusters.count_mode, "SIZE")
        self.assertAlmostEqual(obj.pliant.clusters.size, 0.08, places=4)
        presets.apply(obj, "Rubber")  # nothing is enclosed that could be kept
        self.assertFalse(obj.pliant.material.use_pressure)
        presets.apply(obj, "Balloon")  # and this is nothing without
        self.assertTrue(obj.pliant.material.use_pressure)

    def test_suzanne_is_filled_although_her_eyes_are_open(self):
        bpy.ops.mesh.primitive_monkey_add()
        obj = bpy.context.object
        obj.pliant.role = "BODY"
        self.assertEqual(obj.pliant.material.preset, "Rubber")
        self.assertTrue(obj.pliant.material.use_pressure)
        obj.pliant.particles.count = 300
        self.assertGreater(drop(obj, 20).min(), 0.3)

    def test_what_one_needs_of_other_settings_is_taken_back(self):
        obj = ball()
        presets.apply(obj, "Balloon")
        self.assertEqual(obj.pliant.particles.sampling, "SURFACE")
        presets.apply(obj, "Sheet")
        self.assertEqual(obj.pliant.particles.sampling, "SURFACE")
        self.assertEqual(obj.pliant.clusters.count_mode, "SIZE")
        presets.apply(obj, "Rubber")
        self.assertEqual(obj.pliant.clusters.count_mode, "AUTO")
        self.assertEqual(obj.pliant.particles.thickness, 0)
        obj.pliant.clusters.levels = 5  # the artist's own
        presets.apply(obj, "Jelly")
        self.assertEqual(obj.pliant.clusters.levels, 5)

    def test_plastic_materials_stay_dented(self):
        """Half a diameter of fall. What is elastic is round again; clay and lead are not, and do
        not leave the floor; taffy goes on sinking."""
        found = {}
        for name in ("Rubber", "Clay", "Taffy", "Dough", "Lead", "Wax", "Snow"):
            obj = ball()
            presets.apply(obj, name)
            found[name] = drop(obj, 96)
        self.assertGreater(found["Rubber"][-12:].mean(), 0.95)
        for name in ("Clay", "Taffy", "Dough", "Lead", "Snow"):
            self.assertTrue(0.5 < found[name][-1] < 0.93, (name, found[name][-1]))
        self.assertLess(found["Wax"][-1], 0.98)
        self.assertLess(found["Clay"][-1], found["Lead"][-1])
        self.assertLess(found["Lead"][-1], found["Wax"][-1])
        self.assertLess(found["Taffy"][-1], found["Taffy"][48] - 0.03)
        for name in ("Clay", "Lead"):  # what has been dented stays as it is
            self.assertLess(np.ptp(found[name][-24:]), 0.03, name)

    def test_elastic_materials_take_plasticity_back(self):
        obj = ball()
        presets.apply(obj, "Clay")
        self.assertTrue(obj.pliant.material.use_plasticity)
        presets.apply(obj, "Rubber")
        self.assertFalse(obj.pliant.material.use_plasticity)

    def test_a_material_looks_the_same_at_every_size(self):
        lows = []
        for radius in (0.02, 1.0, 30.0):
            obj = ball(radius)
            presets.apply(obj, "Rubber")
            vertices = meshes.positions(obj.data)
            frames = round(24 * 1.2 * np.sqrt(np.ptp(vertices[:, 2]) / 2)) + 6
            lows.append(drop(obj, frames).min())
        self.assertLess(max(lows) - min(lows), 0.2, lows)

    def test_sheet_samples_the_surface_and_rubber_goes_back(self):
        obj = ball()
        presets.apply(obj, "Sheet")
        self.assertEqual(obj.pliant.particles.sampling, "SURFACE")
        presets.apply(obj, "Rubber")
        self.assertEqual(obj.pliant.particles.sampling, "AUTO")
        obj.pliant.particles.sampling = "GRID"
        presets.apply(obj, "Jelly")
        self.assertEqual(obj.pliant.particles.sampling, "GRID")

    def test_an_unknown_name_is_told(self):
        ball()
        with self.assertRaises(RuntimeError) as caught:
            bpy.ops.pliant.material_preset(name="Granite")
        self.assertIn("Granite", str(caught.exception))


class Users(unittest.TestCase):
    def setUp(self):
        support.fresh()
        self.obj = ball()

    def files(self):
        return [
            os.path.join(folder, name)
            for folder in bpy.utils.preset_paths(presets.SUBFOLDER)
            for name in os.listdir(folder)
            if name.endswith(".py")
        ]

    def test_kept_chosen_and_removed(self):
        material = self.obj.pliant.material
        material.frequency, material.use_pressure = 4.25, True
        bpy.ops.pliant.material_preset_add("EXEC_DEFAULT", name="Wet Clay")
        self.assertEqual(material.preset, "Wet Clay")
        kept = self.files()
        self.assertEqual(len(kept), 1)
        presets.apply(self.obj, "Rubber")
        bpy.ops.script.execute_preset(filepath=kept[0], menu_idname="PLIANT_MT_material_presets")
        self.assertEqual((material.frequency, material.use_pressure), (4.25, True))
        self.assertEqual(material.preset, "Wet Clay")
        bpy.ops.pliant.material_preset_add("EXEC_DEFAULT", remove_active=True)
        self.assertEqual(self.files(), [])
        self.assertEqual(material.preset, "")

    def test_one_saved_before_plasticity_means_off(self):
        material = self.obj.pliant.material
        bpy.ops.pliant.material_preset_add("EXEC_DEFAULT", name="Old")
        path = self.files()[0]
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        plastic = ("use_plasticity", "yield_strain", "flow", "hardening", "plastic_limit")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line for line in lines if not any(f".{n}" in line for n in plastic))
        frequency = material.frequency
        presets.apply(self.obj, "Clay")
        bpy.ops.script.execute_preset(filepath=path, menu_idname="PLIANT_MT_material_presets")
        self.assertFalse(material.use_plasticity)
        self.assertAlmostEqual(material.frequency, frequency, places=5)
        bpy.ops.pliant.material_preset_add("EXEC_DEFAULT", remove_active=True)

    def test_our_own_are_neither_replaced_nor_removed(self):
        with self.assertRaises(RuntimeError):
            bpy.ops.pliant.material_preset_add("EXEC_DEFAULT", name="Rubber")
        bpy.ops.pliant.material_preset(name="Jelly")
        self.assertEqual(bpy.ops.pliant.material_preset_add("EXEC_DEFAULT", remove_active=True), {"CANCELLED"})
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
