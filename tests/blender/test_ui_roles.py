# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects become soft bodies and colliders, with settings that fit their size."""

import math
import unittest

import bpy
import support


def add(kind="cube", **settings):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**settings)
    return bpy.context.object


def select(active, *others):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj == active or obj in others)
    bpy.context.view_layer.objects.active = active


def set_role(role, obj=None):
    if obj is not None:
        select(obj)
    return bpy.ops.pliant.set_role(role=role)


class Roles(unittest.TestCase):
    def setUp(self):
        support.fresh()

    def test_a_mesh_becomes_soft_and_nothing_again(self):
        obj = add("monkey")
        self.assertEqual(set_role("BODY"), {"FINISHED"})
        self.assertEqual(obj.pliant.role, "BODY")
        self.assertEqual(obj.pliant.material.preset, "Rubber")
        set_role("NONE")
        self.assertEqual(obj.pliant.role, "NONE")

    def test_all_selected_get_the_role(self):
        first, second, third = add(), add(), add()
        select(first, second)
        set_role("COLLIDER")
        self.assertEqual([o.pliant.role for o in (first, second, third)], ["COLLIDER", "COLLIDER", "NONE"])

    def test_settings_follow_from_the_size(self):
        small, large = add(size=0.05), add(size=20)
        set_role("BODY", small)
        set_role("BODY", large)
        ratio = small.pliant.material.frequency / large.pliant.material.frequency
        self.assertAlmostEqual(ratio, math.sqrt(400), delta=0.01)
        ratio = large.pliant.particles.spacing / small.pliant.particles.spacing
        self.assertAlmostEqual(ratio, 400, delta=0.5)
        ratio = large.pliant.clusters.size / small.pliant.clusters.size
        self.assertAlmostEqual(ratio, 400, delta=0.5)

    def test_the_scale_of_object_and_parent_count(self):
        plain, scaled = add(size=2), add(size=0.5)
        parent = bpy.data.objects.new("parent", None)
        bpy.context.scene.collection.objects.link(parent)
        parent.scale = (2, 2, 2)
        scaled.parent = parent
        scaled.scale = (2, -2, 2)
        bpy.context.view_layer.update()
        set_role("BODY", plain)
        set_role("BODY", scaled)
        for group, name in (("material", "frequency"), ("particles", "spacing")):
            self.assertAlmostEqual(
                getattr(getattr(plain.pliant, group), name), getattr(getattr(scaled.pliant, group), name), places=4
            )

    def test_a_role_set_by_a_script_fits_too_but_only_once(self):
        obj = add()
        obj.pliant.role = "BODY"
        self.assertEqual(obj.pliant.material.preset, "Rubber")
        obj.pliant.material.frequency = 3.0
        obj.pliant.role = "NONE"
        obj.pliant.role = "BODY"
        self.assertEqual(obj.pliant.material.frequency, 3.0)
        bpy.ops.pliant.fit_settings()
        self.assertGreater(obj.pliant.material.frequency, 5.0)

    def refused(self, part, role="BODY"):
        with self.assertRaises(RuntimeError) as caught:
            set_role(role)
        self.assertIn(part, str(caught.exception))
        self.assertEqual(bpy.context.object.pliant.role, "NONE")

    def test_what_cannot_be_soft_is_named(self):
        bpy.ops.object.light_add()
        self.refused('"Point" is not a mesh')
        self.refused('"Point" has no surface', "COLLIDER")
        mesh = bpy.data.meshes.new("dots")
        mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [], [])
        obj = bpy.data.objects.new("dots", mesh)
        bpy.context.scene.collection.objects.link(obj)
        select(obj)
        self.refused('"dots" has no faces')
        flat = add()
        flat.scale.z = 0
        bpy.context.view_layer.update()
        self.refused("scale of zero")

    def test_one_bad_object_does_not_stop_the_others(self):
        good = add()
        bpy.ops.object.light_add()
        light = bpy.context.object
        select(good, light)
        self.assertEqual(set_role("BODY"), {"FINISHED"})
        self.assertEqual((good.pliant.role, light.pliant.role), ("BODY", "NONE"))

    def test_undo_and_redo(self):
        add().name = "thing"
        bpy.ops.ed.undo_push(message="before")
        set_role("BODY")
        bpy.ops.ed.undo_push(message="soft")
        bpy.ops.ed.undo()
        self.assertEqual(bpy.data.objects["thing"].pliant.role, "NONE")
        bpy.ops.ed.redo()
        self.assertEqual(bpy.data.objects["thing"].pliant.role, "BODY")
        self.assertEqual(bpy.data.objects["thing"].pliant.material.preset, "Rubber")


class Copying(unittest.TestCase):
    def setUp(self):
        support.fresh()

    def test_everything_is_copied(self):
        source, target = add(size=2), add(size=1)
        set_role("BODY", source)
        pliant = source.pliant
        pliant.material.frequency = 7.5
        pliant.clusters.levels = 3
        pliant.clusters.weights[1] = 0.25
        pliant.particles.sampling = "GRID"
        pliant.start.velocity = (1, 2, 3)
        pliant.paint.stiffness_group = "soft"
        pliant.collider.friction = 0.125
        select(source, target)
        self.assertEqual(bpy.ops.pliant.copy_settings(), {"FINISHED"})
        copied = target.pliant
        self.assertEqual(copied.role, "BODY")
        self.assertEqual(copied.material.frequency, 7.5)
        self.assertEqual((copied.clusters.levels, copied.clusters.weights[1]), (3, 0.25))
        self.assertEqual(copied.particles.sampling, "GRID")
        self.assertEqual(tuple(copied.start.velocity), (1, 2, 3))
        self.assertEqual(copied.paint.stiffness_group, "soft")
        self.assertEqual(copied.collider.friction, 0.125)
        self.assertEqual(copied.particles.spacing, pliant.particles.spacing)

    def test_nothing_to_copy_to(self):
        set_role("BODY", add())
        self.assertFalse(bpy.ops.pliant.copy_settings.poll())


if __name__ == "__main__":
    unittest.main()
