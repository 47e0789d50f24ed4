# SPDX-License-Identifier: GPL-3.0-or-later
"""Welds, surfaces of their own, surfaces that run, and sleep: what the settings say is what is
captured, from the panels and from the command line."""

import io
import math
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import bpy
import support
from cubes import Cubes, add

capture, setting, cli = (support.addon(name) for name in ("blender.capture.capture", "command.setting", "cli"))
failures = support.addon("command.failures")


def weld(obj, other, **values):
    made = obj.pliant.welds.add()
    made.object = other
    for name, value in values.items():
        setattr(made, name, value)
    return made


class Captured(Cubes):
    def test_welds_of_bodies_and_colliders(self):
        body, other, wall = add("A"), add("B", 1), add("Wall", -1, "COLLIDER")
        weld(body, other, strength=500.0, distance=0.25)
        weld(other, body, strength=7.0)  # the same two again
        weld(wall, body)
        found = [(w.body, w.to, w.strength, w.distance) for w in self.capture().welds]
        self.assertEqual(found, [("A", "B", 500.0, 0.25), ("A", "Wall", 0.0, 0.0)])

    def test_what_cannot_be_welded_is_a_sentence(self):
        body, wall, other = add("A"), add("Wall", -1, "COLLIDER"), add("Other", 3, "COLLIDER")
        for obj, to, said in (
            (body, None, "'A' is to be welded to nothing"),
            (body, body, "'A' cannot be welded to itself"),
            (wall, other, "both are colliders"),
        ):
            made = weld(obj, to)
            with self.assertRaisesRegex(capture.CaptureError, said):
                self.capture()
            obj.pliant.welds.remove(0)
            del made
        weld(body, other)
        other.pliant.role = "NONE"
        with self.assertRaisesRegex(capture.CaptureError, "neither a soft body nor a collider"):
            self.capture()

    def test_surfaces_and_sleep_at_every_frame(self):
        body = add("A")
        state = self.capture().frames[0]
        self.assertIsNone(state.bodies[0].surface)
        self.scene.pliant.use_sleep = False
        self.assertIsNone(self.capture().frames[0].sleep)
        own = body.pliant.contacts
        own.use_surface, own.friction, own.restitution, own.thickness = True, 0.0, 0.5, 0.25
        own.keyframe_insert("friction", frame=1)
        own.friction = 1.0
        own.keyframe_insert("friction", frame=3)
        self.scene.pliant.use_sleep = True
        self.scene.pliant.sleep_speed, self.scene.pliant.sleep_seconds = 0.125, 1.0
        shot = self.capture()
        self.assertEqual(
            [f.bodies[0].surface for f in shot.frames], [(0.0, 0.5, 0.25), (0.5, 0.5, 0.25), (1.0, 0.5, 0.25)]
        )
        self.assertEqual({f.sleep for f in shot.frames}, {(0.125, 1.0)})

    def test_a_surface_runs_along_the_axes_of_the_object(self):
        """The object is turned by a right angle: its x is the world's y."""
        add("A", 2)
        for shape, axes in (("BOX", False), ("MESH", True), ("AUTO", False)):
            belt = add("Belt", 0, "COLLIDER")
            belt.location = (5, 0, 0)
            belt.rotation_euler = (0, 0, math.pi / 2)
            belt.scale = (4, 2, 1)
            own = belt.pliant.collider
            own.shape, own.surface_velocity, own.surface_spin = shape, (2, 0, 0), (0, 0, 3)
            self.assertIsNone(self.capture().frames[0].colliders[0].runs)
            own.use_running = True
            velocity, spin, centre = self.capture().frames[0].colliders[0].runs
            # a mesh has the world's axes, a box its own
            wanted = (0, 2, 0) if axes else (2, 0, 0)
            for got, expected in ((velocity, wanted), (spin, (0, 0, 3)), (centre, (5, 0, 0) if axes else (0, 0, 0))):
                for a, b in zip(got, expected):
                    self.assertAlmostEqual(a, b, places=5, msg=shape)
            bpy.data.objects.remove(belt)


class Buttons(Cubes):
    def test_weld_to_selected_and_remove(self):
        body, wall, plain = add("A"), add("Wall", -1, "COLLIDER"), add("Plain", 3, "NONE")
        for obj in (body, wall, plain):
            obj.select_set(True)
        bpy.context.view_layer.objects.active = body
        bpy.ops.pliant.weld_add()
        self.assertEqual([w.object for w in body.pliant.welds], [wall])
        bpy.ops.pliant.weld_add()  # it is there already
        self.assertEqual(len(body.pliant.welds), 1)
        wall.select_set(False)
        bpy.ops.pliant.weld_add()  # none is selected: one to choose
        self.assertEqual([w.object for w in body.pliant.welds], [wall, None])
        bpy.ops.pliant.weld_remove(index=0)
        self.assertEqual([w.object for w in body.pliant.welds], [None])
        self.assertEqual(bpy.ops.pliant.weld_remove(index=5), {"CANCELLED"})
        bpy.context.view_layer.objects.active = plain
        self.assertFalse(bpy.ops.pliant.weld_add.poll())


class CommandLine(Cubes):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        add("A", 0.5), add("Floor", -0.5, "COLLIDER")
        self.blend = self.folder / "shot.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(self.blend))

    def run_command(self, *arguments):
        out, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(errors):
            code = cli.main([arguments[0], "--blend", str(self.blend), *arguments[1:]])
        return code, out.getvalue() + errors.getvalue()

    def test_welds_surfaces_and_sleep_are_arguments(self):
        saved = self.folder / "saved.blend"
        code, said = self.run_command(
            "bake",
            "--frames",
            "1-3",
            "--weld",
            "A:Floor=2e4",
            "--set",
            "contacts.use_surface=on",
            "--set",
            "contacts.friction=0",
            "--set",
            "collider.use_running=true",
            "--set",
            "collider.surface_velocity=1,0,0",
            "--set",
            "scene.use_sleep=1",
            "--save",
            str(saved),
        )
        self.assertEqual(code, 0, said)
        body = bpy.data.objects["A"].pliant
        self.assertEqual([(w.object.name, w.strength) for w in body.welds], [("Floor", 20000.0)])
        self.assertTrue(body.contacts.use_surface and bpy.context.scene.pliant.use_sleep)
        self.assertEqual(tuple(bpy.data.objects["Floor"].pliant.collider.surface_velocity), (1.0, 0.0, 0.0))
        self.blend = saved
        code, said = self.run_command("info")
        self.assertEqual(code, 0, said)
        self.assertIn("'A' is welded to 'Floor' up to 20000 Pa", said)

    def test_bad_welds_are_refused(self):
        for text, code, words in (
            ("A", failures.USAGE, "OBJECT:OTHER"),
            ("A:Flor", failures.FILE, "did you mean 'Floor'"),
            ("A:A", failures.SCENE, "itself"),
            ("A:Floor=strong", failures.USAGE, "not a number"),
        ):
            with self.subTest(text):
                found, said = self.run_command("bake", "--frames", "1-2", "--weld", text)
                self.assertEqual(found, code, said)
                self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
