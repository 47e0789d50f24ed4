# SPDX-License-Identifier: GPL-3.0-or-later
"""How much is done to capture a frame: little where nothing moves, and nothing is ever missed.

Operations are counted, not milliseconds: tests/bench/addon_share.py has those.
"""

import sys
from unittest import mock

import bpy
import support
import numpy as np
from test_bake_capture import Captures, add_body, add_collider

capture, colliders, fingerprint = (
    support.addon(name) for name in ("blender.capture.capture", "blender.capture.colliders", "bake.fingerprint")
)


def calls_of(function):
    """How many functions, of Python or C, are called by a call."""
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


class Work(Captures):
    def setUp(self):
        super().setUp()
        self.body = add_body("ico_sphere", location=(0, 0, 3))
        self.floor = add_collider("plane", size=40)
        bpy.ops.object.effector_add(type="WIND")
        self.wind = bpy.context.object

    def test_what_stands_still_is_neither_placed_nor_hashed_again(self):
        self.scene.frame_end = 20
        capturing = capture.Capture(self.scene)
        next(capturing)
        with (
            mock.patch.object(np.linalg, "svd", side_effect=AssertionError("svd")),
            mock.patch.object(colliders, "place", side_effect=AssertionError("place")),
        ):
            calls = [calls_of(lambda: next(capturing)) for _ in range(18)]
        # for a body, a collider and a field, reading all their values
        self.assertLess(sum(calls) / len(calls), 140)
        next(capturing)
        frames = capturing.shot.frames
        for frame in frames[1:]:
            self.assertIs(frame.gravity, frames[0].gravity)
            self.assertIs(frame.bodies[0].material, frames[0].bodies[0].material)
            self.assertIs(frame.bodies[0].matrix, frames[0].bodies[0].matrix)
            self.assertIs(frame.colliders[0], frames[0].colliders[0])
            self.assertIs(frame.fields[0], frames[0].fields[0])
        few, many = (calls_of(lambda: list(fingerprint.frame_hashes(frames[:count]))) for count in (1, 20))
        self.assertLess((many - few) / 19, 60)

    def frames_set(self, frames=12):
        """How many frames Blender is asked to evaluate for so many."""
        self.scene.frame_end = frames
        seen, set_frame = [], capture.set_frame
        with mock.patch.object(
            capture, "set_frame", lambda scene, number: (seen.append(number), set_frame(scene, number))
        ):
            shot = capture.capture_all(self.scene)
        self.assertEqual([frame.number for frame in shot.frames], list(range(1, frames + 1)))
        return len(seen)

    def test_a_scene_that_stands_still_is_evaluated_twice(self):
        self.assertEqual(self.frames_set(), 2)
        group = self.body.vertex_groups.new(name="P")
        group.add([0, 1, 2], 1, "ADD")
        self.body.pliant.start.use_pins, self.body.pliant.start.pin_group = True, "P"
        rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
        self.scene.collection.objects.link(rig)
        self.body.modifiers.new("Rig", "ARMATURE").object = rig
        self.assertEqual(self.frames_set(), 2)

    def test_whatever_changes_is_evaluated_at_each_frame(self):
        def keyed(data, path, value):
            for frame in (1, 12):
                setattr(data, path, value if frame > 1 else getattr(data, path))
                data.keyframe_insert(path, frame=frame)

        def driven():
            self.body.driver_add("location", 0).driver.expression = "frame * .1"

        changes = {
            "a setting": lambda: keyed(self.body.pliant.material, "damping", 9),
            "the floor": lambda: keyed(self.floor, "scale", (2, 2, 2)),
            "a collider's setting": lambda: keyed(self.floor.pliant.collider, "friction", 0.1),
            "a field": lambda: keyed(self.wind.field, "strength", 5),
            "the scene": lambda: keyed(self.scene.pliant, "contact_friction", 0.1),
            "gravity": lambda: keyed(self.scene, "gravity", (0, 0, -1)),
            "a driver": driven,
            "a modifier": lambda: self.body.modifiers.new("Wave", "WAVE"),
        }
        for name, change in changes.items():
            with self.subTest(name):
                self.setUp()
                change()
                self.assertEqual(self.frames_set(), 12)

    def test_handlers_of_others_may_change_anything(self):
        def handler(scene, *_):
            scene.objects["Wind"].location.x = scene.frame_current

        self.wind.name = "Wind"
        bpy.app.handlers.frame_change_pre.append(handler)
        try:
            self.assertEqual(self.frames_set(), 12)
        finally:
            bpy.app.handlers.frame_change_pre.remove(handler)

    def test_what_follows_is_released_in_a_scene_that_stands_still(self):
        self.body.pliant.start.use_follow, self.body.pliant.start.release_frame = True, 6
        self.assertEqual(self.frames_set(), 2)
        shot = capture.capture_all(self.scene)
        self.assertEqual(
            [frame.bodies[0].pin_vertices is not None for frame in shot.frames],
            [1 < number <= 6 for number in range(1, 13)],
        )

    def test_a_mesh_collider_is_read_again_only_where_it_was_evaluated(self):
        deforms = add_collider("monkey")
        deforms.pliant.collider.shape = "MESH"
        stands = add_collider("monkey", location=(4, 0, 0))
        stands.pliant.collider.shape = "MESH"
        moves = add_collider("monkey", location=(8, 0, 0))
        moves.pliant.collider.shape = "MESH"
        wave = deforms.modifiers.new("Wave", "WAVE")  # moves by itself, without a keyframe
        wave.height = 0.3
        for frame, x in ((1, 8), (10, 9)):
            moves.location.x = x
            moves.keyframe_insert("location", frame=frame)
        self.scene.frame_end = 10
        read = []
        vertices = capture.collider_meshes.vertices

        def counted(evaluated, *others):
            read.append(evaluated.name)
            return vertices(evaluated, *others)

        with mock.patch.object(capture.collider_meshes, "vertices", counted):
            shot = self.capture()
        self.assertEqual([read.count(obj.name) for obj in (deforms, stands, moves)], [10, 1, 1])
        names = [collider.name for collider in shot.colliders]
        for obj, different in ((deforms, 10), (stands, 1), (moves, 10)):
            states = [frame.colliders[names.index(obj.name)] for frame in shot.frames]
            self.assertEqual(len({id(state) for state in states}), different, obj.name)
        self.assertNotIn("_note", [f.__name__ for f in bpy.app.handlers.frame_change_post])

    def test_a_larger_mesh_is_no_more_work_a_frame(self):
        calls = []
        for level in (1, 5):
            support.fresh()
            bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=level)
            bpy.context.object.pliant.role = "BODY"
            capturing = capture.Capture(bpy.context.scene)
            next(capturing)
            next(capturing)
            calls.append(calls_of(lambda: next(capturing)))
        self.assertLessEqual(calls[1], calls[0] + 5)

    def test_whatever_a_handler_changes_is_captured(self):
        """In frames 2 and 4 something is other than in 1 and 3: nothing says so but its value."""
        body, floor, wind = self.body, self.floor, self.wind

        def gravity(odd):
            self.scene.gravity = (0, 0, -9.81 if odd else -1)

        def material(odd):
            body.pliant.material.damping = 1 if odd else 2
            body.update_tag()  # Blender looks at an add-on's properties only then

        def pins(odd):
            body.pliant.start.pin_strength = 1 if odd else 0.5
            body.update_tag()

        def matrix(odd):
            body.location.x = 0 if odd else 1e-3

        def surface(odd):
            floor.pliant.collider.friction = 0.5 if odd else 0.25
            floor.update_tag()

        def place(odd):
            floor.scale.z = 1 if odd else -1

        def shape(odd):
            for vertex in floor.data.vertices:
                vertex.co.z = 0 if odd else 1
            floor.data.update()

        def field(odd):
            wind.field.strength = 1 if odd else 3

        def field_place(odd):
            wind.location.y = 0 if odd else 1

        wanted = {gravity: 0, material: 1, pins: 2, matrix: 2, surface: 3, place: 3, shape: 3, field: 4, field_place: 4}
        for change, index in wanted.items():

            def handler(scene, _graph=None):
                change(scene.frame_current % 2 == 1)

            bpy.app.handlers.frame_change_pre.append(handler)
            try:
                shot = self.capture()
            finally:
                bpy.app.handlers.frame_change_pre.remove(handler)
                change(True)
            with self.subTest(change.__name__):
                marks = [line.split() for line in fingerprint.frame_hashes(shot.frames)]
                self.assertEqual(marks[0], marks[2])
                self.assertEqual(marks[1], marks[3])
                differ = [k for k in range(5) if marks[0][k] != marks[1][k]]
                self.assertEqual(differ, [index])
