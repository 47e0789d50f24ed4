# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that is out of date is detected, with what has changed; no false alarms."""

import io
import json
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

import bpy
import support
from cubes import Cubes, add

folders, glance = support.addon("blender.folders"), support.addon("blender.capture.staleness")
outdated, timeline, cli = support.addon("ui.outdated"), support.addon("ui.timeline"), support.addon("cli")


def move_a_vertex(test):
    test.body.data.vertices[0].co.x += 0.1
    outdated._meshes.clear()  # as the handler does


def keyframe(test):
    test.floor.location.z = -3
    test.floor.keyframe_insert("location", frame=1)
    test.floor.location.z = -2
    test.floor.keyframe_insert("location", frame=3)
    test.scene.frame_set(2)


CHANGES = {
    "damping 3, now 5": lambda test: setattr(test.body.pliant.material, "damping", 5),
    "particles count 150, now 160": lambda test: setattr(test.body.pliant.particles, "count", 160),
    "the mesh of 'A'": move_a_vertex,
    "the modifier": lambda test: setattr(test.body.modifiers["Bend"], "factor", 0.4),
    "the animation of 'A'": lambda test: setattr(test.body, "location", (0, 0, 3)),
    "friction 0.5, now 0.25": lambda test: setattr(test.floor.pliant.collider, "friction", 0.25),
    "the collider 'Floor'": lambda test: setattr(test.floor, "location", (0, 0, -3)),
    "collider 'Floor'": keyframe,
    "frame rate 24, now 30": lambda test: setattr(test.scene.render, "fps", 30),
    "the last frame (3, now 5)": lambda test: setattr(test.scene, "frame_end", 5),
    "first frame 1, now 2": lambda test: setattr(test.scene, "frame_start", 2),
    "gravity 0 0 -9.81, now 0 0 -5": lambda test: setattr(test.scene, "gravity", (0, 0, -5)),
    "the list of bodies (bodies A, now A B)": lambda test: add("B", 6),
    "goal linear, now rigid": lambda test: setattr(test.body.pliant.material, "goal", "RIGID"),
    "(unit scale 1, now 0.01)": lambda test: setattr(test.scene.unit_settings, "scale_length", 0.01),
}


class Outdated(Cubes):
    def setUp(self):
        super().setUp()
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name
        self.floor = add("Floor", -4, role="COLLIDER")
        self.body = add("A", 2)
        self.body.pliant.material.damping = 3
        bend = self.body.modifiers.new("Bend", "CAST")
        bend.factor = 0.1
        self.scene.pliant.folder = self.place + "/cache"
        self.scene.render.fps = 24
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        bpy.context.view_layer.update()

    def test_nothing_is_told_of_a_bake_that_is_as_it_was(self):
        for frame in (1, 2, 3, 7):
            self.scene.frame_set(frame)
            self.assertEqual(outdated.look(self.scene), [], frame)
        self.scene.frame_set(2)
        self.assertEqual(timeline.spans(self.scene), [(1, 4, timeline.BAKED)])
        self.assertIsNone(outdated.sentence(self.scene))
        self.scene.pliant.threads = 3  # which changes no result
        self.assertEqual(outdated.look(self.scene), [])
        self.assertEqual(glance.changed(self.scene, folders.cache_of(self.scene)), [])

    def test_what_changed_is_named(self):
        for number, (name, change) in enumerate(CHANGES.items()):
            with self.subTest(name):
                if number:
                    self.setUp()
                change(self)
                bpy.context.view_layer.update()
                found = outdated.look(self.scene)
                wanted = "the mesh of 'A'" if name == "the modifier" else name
                self.assertIn(wanted, "; ".join(found))
                self.assertEqual(timeline.spans(self.scene)[0][2], timeline.OUT_OF_DATE)
                self.assertIn("Out of date: ", outdated.sentence(self.scene))

    def test_pascals_are_those_of_the_panel(self):
        self.scene.unit_settings.scale_length = 0.01
        material = self.body.pliant.material
        material.use_pressure, material.stiffness_kind, material.young = False, "YOUNG", 30000
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        self.assertEqual(outdated.look(self.scene), [])
        material.young = 40000
        self.assertEqual(outdated.look(self.scene), ["the material of 'A' (stiffness 30000, now 40000)"])

    def test_vertex_groups_that_modifiers_change(self):
        group = self.body.vertex_groups.new(name="Half")
        group.add([0, 1, 2, 3], 0.5, "ADD")
        weights = self.body.modifiers.new("Weights", "VERTEX_WEIGHT_EDIT")
        weights.vertex_group, weights.falloff_type = "Half", "SHARP"
        start, paint = self.body.pliant.start, self.body.pliant.paint
        paint.stiffness_group, start.use_pins, start.pin_group = "Half", True, "Half"
        start.pin_mode = "SPRING"
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        bpy.context.view_layer.update()
        self.assertEqual(outdated.look(self.scene), [])
        start.pin_frequency = 3
        self.body.pliant.particles.count = 160
        self.assertEqual(
            outdated.look(self.scene),
            [
                "the particles, clusters or start of 'A' (particles count 150, now 160)",
                "the pins of 'A' (pull 8, now 3)",
            ],
        )

    def test_a_new_body_is_named_once(self):
        add("B", 6)
        bpy.context.view_layer.update()
        found = outdated.look(self.scene)
        self.assertEqual(found[0], "the list of bodies (bodies A, now A B)")
        self.assertFalse([text for text in found if "'B'" in text], found)

    def test_a_new_bake_is_up_to_date(self):
        self.body.pliant.material.damping = 7
        self.assertTrue(outdated.look(self.scene))
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        self.assertEqual(outdated.of(self.scene), [])
        self.assertEqual(outdated.look(self.scene), [])

    def test_other_results_and_save_and_load(self):
        for kind in ("SHAPE_KEYS", "MDD"):
            self.scene.pliant.output = kind
            self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
            self.assertEqual(outdated.look(self.scene), [], kind)
        self.scene.pliant.output = "PC2"
        self.body.pliant.fracture.use_fracture = True
        self.body.pliant.fracture.toughness = 1e-6
        self.body.pliant.start.angular_velocity = (0, 0, 60)
        self.body.vertex_groups.new(name="Tough").add([0], 1, "ADD")
        self.body.pliant.paint.toughness_group = "Tough"
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        self.assertTrue(self.body.pliant.result.is_cut)
        self.assertEqual(outdated.look(self.scene), [])
        path = str(Path(self.place, "shot.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        self.assertEqual(outdated.look(bpy.context.scene), [])

    def test_bakes_from_before_have_no_marks(self):
        path = Path(self.place, "cache", "bake.json")
        data = json.loads(path.read_text())
        del data["values"], data["bodies"][0]["source"]
        path.write_text(json.dumps(data))
        self.assertEqual(outdated.look(self.scene), [])
        self.body.pliant.material.damping = 5
        bpy.context.view_layer.update()
        self.assertEqual(outdated.look(self.scene), ["the material of 'A'"])

    def test_a_look_reads_no_frame(self):
        seen = []
        bpy.app.handlers.frame_change_pre.append(lambda *_: seen.append("frame"))
        bpy.app.handlers.depsgraph_update_post.append(lambda *_: seen.append("update"))
        try:
            self.scene.frame_set(2)
            seen.clear()
            outdated.look(self.scene)
        finally:
            bpy.app.handlers.frame_change_pre.pop()
            bpy.app.handlers.depsgraph_update_post.pop()
        self.assertEqual(seen, [])
        self.assertEqual(self.scene.frame_current, 2)

    def test_the_command_line_says_the_same(self):
        def info():
            path = str(Path(self.place, "shot.blend"))
            bpy.ops.wm.save_as_mainfile(filepath=path)
            said = io.StringIO()
            with redirect_stdout(said):
                code = cli.main(["info", "--blend", path, "--log-json"])
            self.assertEqual(code, 0, said.getvalue())
            events = [json.loads(line) for line in said.getvalue().splitlines() if line[:1] == "{"]
            return [e["what"] for e in events if e["event"] == "outdated"]

        self.assertEqual(info(), [])
        bpy.data.objects["A"].pliant.material.damping = 5
        self.assertEqual(info(), ["the material of 'A' (damping 3, now 5)"])


if __name__ == "__main__":
    unittest.main()
