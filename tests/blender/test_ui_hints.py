# SPDX-License-Identifier: GPL-3.0-or-later
"""Hints before a bake, and Add Floor."""

import tempfile
import unittest

import bmesh
import bpy
import support

hints, fitting, capture, modifiers = (
    support.addon(name)
    for name in ("ui.panels.hints", "blender.fitting", "blender.capture.capture", "blender.modifiers")
)


def add(kind, **settings):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**settings)
    obj = bpy.context.object
    obj.pliant.role = "BODY"
    return obj


def said(obj):
    return " | ".join(hint.text for hint in hints.of(obj))


class Hints(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()

    def test_nothing_is_said_of_what_will_look_right(self):
        for kind in ("monkey", "uv_sphere", "torus", "grid"):
            self.assertEqual(said(add(kind)), "", kind)

    def test_edges_as_long_as_the_body(self):
        cube = add("cube")
        self.assertIn("subdivide", said(cube))
        self.assertIn("subdivide", said(add("cylinder", vertices=64, depth=4)))
        made = bmesh.new()
        made.from_mesh(cube.data)
        bmesh.ops.subdivide_edges(made, edges=made.edges, cuts=4, use_grid_fill=True)
        made.to_mesh(cube.data)
        made.free()
        self.assertEqual(said(cube), "")
        cube.scale = (30, 30, 30)
        bpy.context.view_layer.update()
        self.assertEqual(said(cube), "")

    def test_half_a_body_and_its_mirror(self):
        obj = add("monkey")
        obj.modifiers.new("Subdivision", "SUBSURF")
        self.assertEqual(said(obj), "")
        obj.modifiers.new("Mirror", "MIRROR")
        self.assertIn("without its Mirror modifier", said(obj))
        obj.modifiers.new("Array", "ARRAY")
        self.assertIn("without its Mirror and Array modifiers", said(obj))
        obj.pliant.particles.count = 150
        shot = capture.capture_all(self.scene, start=1, end=2)
        self.assertTrue(any("without its Mirror and Array modifiers, which" in w for w in shot.warnings), shot.warnings)
        for modifier in obj.modifiers:
            modifier.show_viewport = False
        self.assertEqual(said(obj), "")
        self.assertEqual(capture.capture_all(self.scene, start=1, end=2).warnings, [])

    def test_no_volume_to_keep(self):
        obj = add("grid")
        self.assertEqual(said(obj), "")
        obj.pliant.material.use_pressure = True
        self.assertIn("The mesh is open", said(obj))

    def test_a_rig_that_comes_too_late(self):
        obj = add("monkey")
        obj.modifiers.new("Rig", "ARMATURE")
        obj.modifiers.new("Halves", "MIRROR")
        self.assertNotIn("Rig", said(obj))
        obj.modifiers.move(0, 1)
        for _ in range(2):
            self.assertIn("Its modifier Rig comes after Halves, so it moves the result", said(obj))
            warned = capture.capture_all(self.scene, start=1, end=1).warnings
            self.assertIn("move it up, or apply Halves.", " ".join(warned))
            modifiers.play(obj, "/nowhere.pc2", 1)  # stands before both now
        obj.modifiers.remove(obj.modifiers["Halves"])
        self.assertNotIn("Rig", said(obj))

    def test_what_breaks_keeps_no_volume(self):
        obj = add("monkey")
        obj.pliant.particles.count = 150
        self.assertTrue(obj.pliant.material.use_pressure)
        frames = capture.capture_all(self.scene, start=1, end=2).frames
        self.assertGreater(frames[0].bodies[0].material["pressure"], 0)
        obj.pliant.fracture.use_fracture = True
        self.assertIn("the volume of a body that may break cannot be kept", said(obj))
        frames = capture.capture_all(self.scene, start=1, end=2).frames
        self.assertEqual(frames[0].bodies[0].material["pressure"], 0)


class Floors(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()

    def add(self, *expected, **place):
        obj = add("uv_sphere", **place)
        self.assertTrue(hints.falls_for_ever(self.scene))
        self.assertEqual(bpy.ops.pliant.add_floor(), {"FINISHED"})
        floor = self.scene.objects["Floor"]
        self.assertEqual(floor.pliant.role, "COLLIDER")
        for found, wanted in zip(floor.location, expected):
            self.assertAlmostEqual(found, wanted, places=4)
        self.assertFalse(hints.falls_for_ever(self.scene))
        self.assertEqual(bpy.context.object, obj)  # what was chosen is chosen
        self.assertEqual((obj.pliant.role, obj.select_get()), ("BODY", True))
        return floor

    def test_below_what_is_about_zero(self):
        self.add(3, 0, -3, location=(3, 0, 0))

    def test_on_the_ground_below_what_stands_above_it(self):
        self.add(0, 5, 0, location=(0, 5, 4))

    def plane(self, name, z=0.0, size=20, **place):
        bpy.ops.mesh.primitive_plane_add(size=size, location=(0, 0, z), **place)
        obj = bpy.context.object
        obj.name = name
        return obj

    def taken(self):
        """The collider that a click gave, or "Floor" if it is a new one."""
        bpy.context.view_layer.update()
        before = set(self.scene.objects.keys())
        self.assertEqual(bpy.ops.pliant.add_floor(), {"FINISHED"})
        colliders = [o.name for o in self.scene.objects if o.pliant.role == "COLLIDER"]
        self.assertEqual(len(colliders), 1)
        self.assertEqual(colliders[0] not in before, "Ground" not in colliders)
        return colliders[0]

    def test_a_floor_that_is_there_is_taken(self):
        self.plane("Ground", -1)
        self.plane("Cellar", -3)
        add("uv_sphere", location=(1, 0, 1))
        self.assertEqual(self.taken(), "Ground")

    def test_walls_and_small_or_high_planes_are_no_floors(self):
        self.plane("Wall", -1, rotation=(0, 1.2, 0))
        self.plane("Plate", -2, size=1)
        self.plane("Ceiling", 5)
        self.plane("Aside", -1).location.x = 15
        self.plane("Hidden", -1).hide_viewport = True
        add("uv_sphere", location=(1, 0, 1))
        self.assertEqual(self.taken(), "Floor")

    def test_a_linked_floor_would_forget_that_it_is_one(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/ground.blend"
            self.plane("Ground", size=30)
            bpy.ops.wm.save_as_mainfile(filepath=path)
            self.scene = support.fresh()
            with bpy.data.libraries.load(path, link=True) as (_, linked):
                linked.objects = ["Ground"]
            self.scene.collection.objects.link(linked.objects[0])
            add("uv_sphere", location=(1, 0, 1))
            self.assertEqual(self.taken(), "Floor")

    def test_its_size_is_that_of_the_bodies(self):
        floor = self.add(0, 0, -0.03, radius=0.01)
        self.assertAlmostEqual(max(floor.dimensions), 0.4, places=3)

    def test_what_is_held_needs_none(self):
        obj = add("monkey")
        self.assertTrue(hints.falls_for_ever(self.scene))
        obj.pliant.start.use_pins = True
        self.assertFalse(hints.falls_for_ever(self.scene))
        obj.pliant.start.use_pins = False
        self.scene.pliant.use_gravity = False
        self.assertFalse(hints.falls_for_ever(self.scene))

    def test_undo(self):
        bpy.ops.ed.undo_push(message="empty")
        add("monkey")
        bpy.ops.ed.undo_push(message="soft")
        bpy.ops.pliant.add_floor()
        bpy.ops.ed.undo_push(message="floor")
        bpy.ops.ed.undo()
        self.assertNotIn("Floor", bpy.data.objects)
        bpy.ops.ed.redo()
        self.assertEqual(bpy.data.objects["Floor"].pliant.role, "COLLIDER")

    def test_grey_without_a_body(self):
        with self.assertRaises(RuntimeError):
            bpy.ops.pliant.add_floor()


if __name__ == "__main__":
    unittest.main()
