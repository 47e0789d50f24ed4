# SPDX-License-Identifier: GPL-3.0-or-later
"""Untidy scenes baked with default settings: bodies land and keep their shape."""

import math
import os
import random
import tempfile
import unittest

import bmesh
import bpy
import support
import numpy as np

meshes, overrides, runs = (support.addon(name) for name in ("blender.meshes", "blender.overrides", "blender.runs"))
LAST = 36


def add(kind, **settings):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**settings)
    return bpy.context.object


def edit(obj, function):
    made = bmesh.new()
    made.from_mesh(obj.data)
    function(made)
    made.to_mesh(obj.data)
    made.free()


class Messy(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.scene = support.fresh()
        self.scene.frame_start, self.scene.frame_end = 1, LAST
        self.place = place.name
        self.scene.pliant.folder = os.path.join(place.name, "cache")
        self.floor = add("plane", size=60)
        self.floor.pliant.role = "COLLIDER"

    def bake(self, *objects):
        """Makes objects soft as a click does, and bakes; what the bake has to say."""
        bpy.context.view_layer.update()
        for obj in self.scene.objects:
            obj.select_set(obj in objects)
        bpy.context.view_layer.objects.active = objects[0]
        self.assertEqual(bpy.ops.pliant.set_role(role="BODY"), {"FINISHED"})
        for obj in objects:
            self.assertEqual(obj.pliant.role, "BODY")
            obj.pliant.particles.count = 600
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        return runs.last_message[self.scene.name]

    def world(self, obj, frame):
        """Vertices of the base mesh, as they are shown at a frame, in the world."""
        self.scene.frame_set(frame)
        off = [m for m in obj.modifiers if m.type not in ("MESH_CACHE", "ARMATURE") and m.show_viewport]
        for modifier in off:
            modifier.show_viewport = False
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrix = np.array(shown.matrix_world)
        places = meshes.positions(shown.data) @ matrix[:3, :3].T + matrix[:3, 3]
        for modifier in off:
            modifier.show_viewport = True
        return places

    def assert_lands(self, obj, size, among=slice(None)):
        """It begins as it was, falls, stands on the floor or bounces, and is about as large as ever."""
        first = self.world(obj, 1)[among]
        self.assertTrue(np.isfinite(first).all())
        lowest, was = first[:, 2].min(), np.ptp(first, axis=0)
        for frame in range(2, LAST + 1):
            places = self.world(obj, frame)[among]
            self.assertTrue(np.isfinite(places).all(), frame)
            lowest = min(lowest, places[:, 2].min())
            self.assertGreater(places[:, 2].min(), -0.08 * size, f"sinks in at frame {frame}")
        self.assertLess(lowest, 0.06 * size, "never lands")
        now = np.linalg.norm(np.ptp(self.world(obj, LAST)[among], axis=0))
        self.assertTrue(0.6 < now / np.linalg.norm(was) < 1.4, now)

    def test_subdivision_and_multires(self):
        head = add("monkey", location=(-2, 0, 1.8))
        head.modifiers.new("Subdivision", "SUBSURF").levels = 2
        fine = add("monkey", location=(2, 0, 1.8))
        fine.modifiers.new("Multires", "MULTIRES")
        bpy.ops.object.multires_subdivide(modifier="Multires")
        self.assertEqual(self.bake(head, fine)[0], "INFO")
        for obj in (head, fine):
            self.assert_lands(obj, 2)
            self.assertEqual(obj.modifiers[0].name, "Pliant")
            shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            self.assertGreater(len(shown.vertices), 1900)

    def test_loose_vertices_and_flipped_faces(self):
        ball = add("ico_sphere", subdivisions=3, location=(0, 0, 1.8))
        kept, chance = len(ball.data.vertices), random.Random(1)

        def spoil(made):
            for face in made.faces:
                if chance.random() < 0.3:
                    face.normal_flip()
            for _ in range(10):
                made.verts.new([chance.uniform(-2, 2) for _ in range(3)])
            made.edges.new([made.verts.new((0, 0, 1.4)), made.verts.new((0, 0, 2))])

        edit(ball, spoil)
        self.bake(ball)
        self.assert_lands(ball, 2, slice(kept))

    def test_parents_and_uneven_scales(self):
        parent = bpy.data.objects.new("Parent", None)
        self.scene.collection.objects.link(parent)
        parent.scale, parent.rotation_euler, parent.location = (1, 1.5, 0.7), (0, 0, 0.5), (0, 0, 1)
        balls = []
        for number, scale in enumerate(((0.3, 0.3, 0.3), (1, 0.4, 0.4), (-0.5, 0.5, 1.1))):
            ball = add("ico_sphere", subdivisions=3, location=(3 * number - 3, 0, 1))
            ball.scale, ball.rotation_euler, ball.parent = scale, (0.3, 0.2, number), parent
            balls.append(ball)
        self.assertEqual(self.bake(*balls)[0], "INFO")
        self.assertTrue(self.scene.pliant.use_contacts)
        for ball, size in zip(balls, (0.6, 2, 2)):
            self.assert_lands(ball, size)

    def test_letters(self):
        bpy.ops.object.text_add(location=(-1, 0, 1), rotation=(math.pi / 2, 0, 0))
        text = bpy.context.object
        text.data.body, text.data.extrude, text.data.bevel_depth = "Soft", 0.15, 0.02
        bpy.ops.object.convert(target="MESH")
        self.bake(bpy.context.object)
        self.assert_lands(bpy.context.object, 1)

    def test_linked_duplicates(self):
        first = add("monkey", location=(-1.5, 0, 1.5))
        second = bpy.data.objects.new("Second", first.data)
        self.scene.collection.objects.link(second)
        second.location, second.scale = (1.5, 0, 1.5), (0.6, 0.6, 0.6)
        self.assertEqual(self.bake(first, second)[0], "INFO")
        self.assertIs(first.data, second.data)
        self.assert_lands(first, 2)
        self.assert_lands(second, 1.2)

    def test_library_overrides(self):
        library, shot = (os.path.join(self.place, name) for name in ("library.blend", "shot.blend"))
        head = add("monkey", location=(0, 0, 1.5))
        head.name = "Linked"
        bpy.data.libraries.write(library, {head})
        bpy.data.objects.remove(head)
        with bpy.data.libraries.load(library, link=True) as (_, wanted):
            wanted.objects = ["Linked"]
        self.scene.collection.objects.link(wanted.objects[0])
        bpy.context.view_layer.update()
        head = wanted.objects[0].override_create(remap_local_usages=True)
        self.assertEqual(self.bake(head)[0], "INFO")
        head.pliant.material.damping = 0.75
        head.pliant.welds.add().object = self.floor
        last = self.world(head, LAST)
        bpy.ops.wm.save_as_mainfile(filepath=shot)
        bpy.ops.wm.open_mainfile(filepath=shot)
        self.scene = bpy.context.scene
        head = self.scene.objects["Linked"]
        self.assertIsNotNone(head.override_library)
        self.assertEqual((head.pliant.role, head.pliant.particles.count), ("BODY", 600))
        self.assertEqual(head.pliant.material.damping, 0.75)
        self.assertEqual([w.object.name for w in head.pliant.welds], [self.scene.objects[0].name])
        np.testing.assert_array_equal(self.world(head, LAST), last)
        self.scene.pliant.override_settings = '{"Linked": {"role": 5, "welds": 3, "material": "x"}}'
        overrides.give_back()  # a file from anywhere
        self.assertEqual(head.pliant.role, "BODY")

    def test_shape_keys_of_the_artist(self):
        ball = add("ico_sphere", subdivisions=3, location=(0, 0, 2))
        ball.shape_key_add(name="Basis")
        tall = ball.shape_key_add(name="Tall")
        for vertex, key in zip(ball.data.vertices, tall.data):
            key.co = vertex.co
            key.co.z *= 1.6
        tall.value = 0.5
        self.assertEqual(self.bake(ball)[0], "INFO")
        self.assertAlmostEqual(float(np.ptp(self.world(ball, 1)[:, 2])), 2.6, places=2)
        self.assert_lands(ball, 2.6)

    def test_centimetres(self):
        self.scene.unit_settings.scale_length = 0.01
        self.scene.gravity = (0, 0, -981)
        self.floor.scale = (100, 100, 100)
        head = add("monkey", size=200, location=(0, 0, 180))
        self.assertEqual(self.bake(head)[0], "INFO")
        self.assert_lands(head, 200)
        metres = add("monkey", location=(40, 0, 1.8))
        metres.pliant.role = "BODY"
        self.assertAlmostEqual(
            head.pliant.material.frequency / metres.pliant.material.frequency, 0.1, places=4
        )  # both for this gravity: a hundredth of the length

    def test_a_rig(self):
        pole = add("cylinder", vertices=16, radius=0.4, depth=3, location=(0, 0, 1.6))
        edit(
            pole,
            lambda made: bmesh.ops.subdivide_edges(
                made, cuts=12, edges=[e for e in made.edges if abs(e.verts[0].co.z - e.verts[1].co.z) > 1]
            ),
        )
        bones = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
        self.scene.collection.objects.link(bones)
        bpy.context.view_layer.objects.active = bones
        bpy.ops.object.mode_set(mode="EDIT")
        bone = bones.data.edit_bones.new("Root")
        bone.head, bone.tail = (0, 0, 0.1), (0, 0, 3)
        bpy.ops.object.mode_set(mode="OBJECT")
        root = pole.vertex_groups.new(name="Root")
        root.add([v.index for v in pole.data.vertices], 1, "REPLACE")
        pin = pole.vertex_groups.new(name="Pin")
        held = [v.index for v in pole.data.vertices if v.co.z < -1.2]
        pin.add(held, 1, "REPLACE")
        pole.modifiers.new("Rig", "ARMATURE").object = bones
        turn = bones.pose.bones["Root"]
        turn.rotation_mode = "XYZ"
        for frame, angle in ((1, 0), (12, 0.5), (LAST, -0.5)):
            turn.rotation_euler = (angle, 0, 0)
            turn.keyframe_insert("rotation_euler", frame=frame)
        pole.pliant.start.use_pins, pole.pliant.start.pin_group = True, "Pin"
        self.assertEqual(self.bake(pole)[0], "INFO")
        self.assertEqual([m.type for m in pole.modifiers], ["ARMATURE", "MESH_CACHE"])
        for frame in (1, 12, LAST):
            shown = self.world(pole, frame)
            playback = pole.modifiers["Pliant"]
            playback.show_viewport = False
            rigged = self.world(pole, frame)
            playback.show_viewport = True
            np.testing.assert_allclose(shown[held], rigged[held], atol=0.05)
            if frame > 1:
                self.assertGreater(np.abs(shown - rigged).max(), 0.01)


if __name__ == "__main__":
    unittest.main()
