# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft bodies collide by default; collision settings arrive in the shot."""

import io
import json
import tempfile
import types
import unittest
from contextlib import redirect_stdout
from pathlib import Path

import bpy
import support
from cubes import Cubes, add

capture, settings, roles = (
    support.addon(name) for name in ("blender.capture.capture", "blender.settings", "blender.roles")
)
setting, cli, runs = support.addon("command.setting"), support.addon("cli"), support.addon("blender.runs")


class Captured(Cubes):
    def test_on_by_default_however_bodies_were_made(self):
        def shift_d(linked):
            bpy.ops.object.duplicate(linked=linked)
            bpy.context.object.location.z = 3

        def script():
            other = bpy.data.objects.new("B", bpy.data.meshes[0].copy())
            self.scene.collection.objects.link(other)
            other.location.z, other.pliant.role = 3, "BODY"

        def roles_of_the_command_line():
            setting._give_roles(self.scene, "BODY", ["A", add("B", 3, role="").name])

        for make in (lambda: shift_d(False), lambda: shift_d(True), script, roles_of_the_command_line):
            self.setUp()
            add("A")
            make()
            shot = self.capture()
            self.assertEqual(len(shot.bodies), 2)
            self.assertTrue(all(frame.contacts is not None for frame in shot.frames))
            self.assertTrue(all(b.contacts == (1, False) for f in shot.frames for b in f.bodies))
            self.assertFalse(shot.pass_through)

    def test_one_body_has_none_unless_it_collides_with_itself(self):
        own = add("A").pliant.contacts
        self.assertTrue(all(frame.contacts is None for frame in self.capture().frames))
        own.use_self = True
        self.assertTrue(all(frame.contacts is not None for frame in self.capture().frames))

    def test_off_is_a_choice(self):
        add("A"), add("B", 3)
        self.scene.pliant.use_contacts = False
        shot = self.capture()
        self.assertTrue(all(frame.contacts is None for frame in shot.frames))
        self.assertTrue(all(b.contacts is None for frame in shot.frames for b in frame.bodies))
        self.assertTrue(shot.pass_through)

    def test_files_keep_what_they_stored(self):
        with tempfile.TemporaryDirectory() as folder:
            for switch in (False, True):
                self.setUp()
                add("A"), add("B", 3)
                self.scene.pliant.use_contacts = switch
                path = str(Path(folder, "two.blend"))
                bpy.ops.wm.save_as_mainfile(filepath=path)
                bpy.ops.wm.open_mainfile(filepath=path)
                self.assertEqual(bpy.context.scene.pliant.use_contacts, switch)

    def test_settings_at_every_frame(self):
        first, second = add("A"), add("B", 3)
        own = self.scene.pliant
        own.use_contacts, own.contact_friction, own.contact_thickness = True, 0.25, 0.5
        own.keyframe_insert("contact_friction", frame=1)
        own.contact_friction = 0.75
        own.keyframe_insert("contact_friction", frame=3)
        first.pliant.contacts.groups = [False, True, True] + [False] * 5
        second.pliant.contacts.use_self = True
        shot = self.capture()
        self.assertEqual([f.contacts["friction"] for f in shot.frames], [0.25, 0.5, 0.75])
        self.assertEqual({f.contacts["thickness"] for f in shot.frames}, {0.5})
        self.assertEqual([b.contacts for b in shot.frames[0].bodies], [(6, False), (1, True)])
        self.assertIs(shot.frames[0].bodies[0].contacts, shot.frames[2].bodies[0].contacts)

    def test_what_a_script_sets_is_seen(self):
        first = add("A")
        add("B", 3)
        self.scene.pliant.use_contacts = True
        bpy.context.view_layer.update()
        first.pliant.material.damping = 17
        first.pliant.contacts.use_others = False
        state = capture.capture_all(bpy.context).frames[0].bodies[0]
        self.assertEqual((state.material["damping"], state.contacts), (17, (1 << 8, False)))

    def test_every_name_is_one_of_the_library(self):
        self.scene.pliant.use_contacts = True
        solver = support.addon("solver")
        with solver.Scene() as scene:
            scene.set_contacts(**settings.contacts(self.scene.pliant))

    def test_bodies_that_collide_with_none_share_no_group(self):
        def own(others, on):
            return types.SimpleNamespace(use_others=others, use_self=False, groups=[on] + [False] * 7)

        made, left = settings.body_contacts([own(False, True)] * 12 + [own(True, False)] * 12 + [own(True, True)])
        groups = [groups for groups, _ in made]
        self.assertEqual((len(set(groups)), left, groups[-1]), (25, 0, 1))
        self.assertTrue(all(a & b == 0 for i, a in enumerate(groups) for b in groups[:i]))
        self.assertTrue(all(0 < g < 1 << 32 for g in groups))
        self.assertEqual(settings.body_contacts([own(False, True)] * 26)[1], 2)


class Roles(Cubes):
    def test_roles_leave_the_choice_alone(self):
        for name in "ABC":
            add(name, role="")
        own = self.scene.pliant
        own.use_contacts = False
        for name in "ABC":
            self.choose(name)
            bpy.ops.pliant.set_role(role="BODY")
        self.assertFalse(own.use_contacts)

    def test_objects_by_name_on_the_command_line(self):
        own, other = add("A").pliant.fracture, add("B", 3)
        setting._assign(own, "cells_object", "B", "fracture.cells_object=B")
        self.assertEqual(own.cells_object, other)

    def test_copies_have_the_settings_and_collide(self):
        source = add("A")
        target = add("B", role="")
        source.pliant.contacts.use_self = True
        source.pliant.contacts.groups = [False, True] * 4
        self.choose("A", "B")
        bpy.ops.pliant.copy_settings()
        self.assertTrue(target.pliant.contacts.use_self)
        self.assertEqual(list(target.pliant.contacts.groups), [False, True] * 4)
        self.assertTrue(self.scene.pliant.use_contacts)

    def choose(self, active, *others):
        for obj in self.scene.objects:
            obj.select_set(obj.name in (active, *others))
        bpy.context.view_layer.objects.active = self.scene.objects[active]


class CommandLine(Cubes):
    def test_groups_are_given_by_number(self):
        prop = add("A").pliant.contacts.bl_rna.properties["groups"]
        self.assertEqual(setting.read_value(prop, "1, 3"), [True, False, True] + [False] * 5)
        self.assertEqual(setting.read_value(prop, ""), [False] * 8)
        for text in ("0", "9", "a", "1,-2", "1.5"):
            with self.assertRaisesRegex(ValueError, "from 1 to 8"):
                setting.read_value(prop, text)

    def test_the_report_counts_contacts(self):
        with tempfile.TemporaryDirectory() as folder:
            add("A"), add("B", 1.02)
            blend = Path(folder, "two.blend")
            bpy.ops.wm.save_as_mainfile(filepath=str(blend))
            counts = {}
            for switch in ("off", "on"):
                said = io.StringIO()
                with redirect_stdout(said):
                    code = cli.main(
                        [
                            "bake",
                            "--blend",
                            str(blend),
                            "--out",
                            f"{folder}/{switch}",
                            "--frames",
                            "1-8",
                            "--log-json",
                            "--set",
                            f"scene.use_contacts={switch}",
                            "--set",
                            "A:contacts.groups=2",
                            "--set",
                            "B:contacts.groups=1,2",
                            "--set",
                            "B:start.velocity=0,0,-2",
                        ]
                    )
                self.assertEqual(code, 0, said.getvalue())
                events = [json.loads(line) for line in said.getvalue().splitlines() if line.startswith("{")]
                counts[switch] = [e["most"] for e in events if e["event"] == "contacts"]
                frames = [e for e in events if e["event"] == "frame"]
                self.assertEqual("contacts" in frames[-1], switch == "on")
                told = [e["message"] for e in events if e["event"] == "pass_through"]
                self.assertEqual(len(told), switch == "off", told)
            self.assertEqual(counts["off"], [])
            self.assertGreater(counts["on"][0], 0)


class Bakes(Cubes):
    def test_the_message_counts_contacts(self):
        add("A")
        add("B", 1.02).pliant.start.velocity = (0, 0, -2)
        self.scene.frame_end = 8
        self.scene.pliant.use_contacts = True
        with tempfile.TemporaryDirectory() as folder:
            self.scene.pliant.folder = folder
            self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
            self.assertRegex(runs.last_message[self.scene.name][1], r"at most \d+ contacts \(frame")
            self.scene.pliant.use_contacts = False
            self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
            self.assertEqual(runs.last_message[self.scene.name][0], "INFO")
            self.assertIn("bodies pass through each other", runs.last_message[self.scene.name][1])


if __name__ == "__main__":
    unittest.main()
