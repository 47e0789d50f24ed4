# SPDX-License-Identifier: GPL-3.0-or-later
"""Fracture settings arrive in the shot; invalid ones are refused."""

import io
import json
import math
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

import bpy
import support
import numpy as np

capture, settings, seams = (
    support.addon(name) for name in ("blender.capture.capture", "blender.settings", "blender.capture.edge_marks")
)
fingerprint, job, shots = (support.addon(f"bake.{name}") for name in ("fingerprint", "job", "shot"))
presets, runs, setting, cli = (
    support.addon(name) for name in ("blender.presets", "blender.runs", "command.setting", "cli")
)
panels_fracture, roles = support.addon("ui.panels.fracture"), support.addon("blender.roles")
solver = support.addon("solver")


def bar(name="Bar", cuts=15):
    """Two metres along x, divided along it, held at both ends and drawn out from frame 1 to 12."""
    bpy.ops.mesh.primitive_cube_add(size=1)
    obj = bpy.context.object
    obj.name = name
    points = np.array(
        [
            [x / (cuts + 1) * 2 - 1, y, z]
            for x in range(cuts + 2)
            for y, z in ((-0.15, -0.15), (0.15, -0.15), (0.15, 0.15), (-0.15, 0.15))
        ]
    )
    faces = [[0, 1, 2, 3], [4 * cuts + 4 + k for k in (3, 2, 1, 0)]]
    faces += [
        [4 * x + k, 4 * x + 4 + k, 4 * x + 4 + (k + 1) % 4, 4 * x + (k + 1) % 4]
        for x in range(cuts + 1)
        for k in range(4)
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces)
    obj.data = mesh
    obj.pliant.role = "BODY"
    obj.pliant.particles.count = 600
    obj.pliant.material.frequency = 30
    group = obj.vertex_groups.new(name="Held")
    group.add([v.index for v in mesh.vertices if abs(v.co.x) > 0.9], 1.0, "REPLACE")
    obj.pliant.start.use_pins, obj.pliant.start.pin_group = True, "Held"
    for frame, scale in ((1, 1.0), (12, 1.4)):
        obj.scale.x = scale
        obj.keyframe_insert("scale", index=0, frame=frame)
    obj.pliant.fracture.use_fracture = True
    return obj


class Breaking(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_start, self.scene.frame_end = 1, 12
        self.scene.use_gravity = False
        files = tempfile.TemporaryDirectory()
        self.addCleanup(files.cleanup)
        self.folder = Path(files.name)
        self.scene.pliant.folder = str(self.folder / "cache")

    def capture(self):
        bpy.context.view_layer.update()
        return capture.capture_all(bpy.context)


class Captured(Breaking):
    def test_off_is_nothing_at_all(self):
        obj = bar()
        obj.pliant.fracture.use_fracture = False
        obj.pliant.fracture.seam_edges = "SEAM"
        shot = self.capture()
        self.assertTrue(all(f.bodies[0].fracture is None for f in shot.frames))
        self.assertIsNone(shot.bodies[0].weak)
        self.assertNotIn("fracture", " ".join(fingerprint.fingerprint(shot).inputs))

    def test_settings_at_every_frame(self):
        own = bar().pliant.fracture
        own.boost, own.falloff, own.use_settle, own.most_pieces = 2.0, 5.0, False, 7
        own.smallest_piece, own.use_first_frame, own.first_frame = 3.0, True, 5
        for frame, value in ((1, 0.25), (3, 0.75)):
            own.toughness = value
            own.keyframe_insert("toughness", frame=frame)
        shot = self.capture()
        states = [f.bodies[0].fracture for f in shot.frames]
        self.assertEqual([s["toughness"] for s in states[:3]], [0.25, 0.5, 0.75])
        self.assertIs(states[3], states[4])
        self.assertEqual((states[0]["boost"], states[0]["falloff"], states[0]["settle"]), (2, 5, 0))
        self.assertEqual(states[0]["most_pieces"], 7)
        self.assertAlmostEqual(states[0]["smallest_piece"], 0.03)
        self.assertAlmostEqual(states[0]["first_time"], 3.0011 / 24)

    def test_every_name_is_one_of_the_library(self):
        own = bar().pliant.fracture
        with solver.Scene() as scene:
            body = scene.add_body(points=np.random.default_rng(0).random((100, 3), np.float32))
            body.set_fracture(**settings.fracture(own, 1, 24))

    def test_marked_edges(self):
        obj = bar()
        mesh, own = obj.data, obj.pliant.fracture
        rings = [
            i for i, e in enumerate(mesh.edges) if all(abs(mesh.vertices[v].co.x + 0.5) < 1e-6 for v in e.vertices)
        ]
        self.assertEqual(len(rings), 4)
        for i in rings:
            mesh.edges[i].use_seam = mesh.edges[i].use_edge_sharp = True
        for name in ("weak", "crease_edge"):
            mesh.attributes.new(name, "FLOAT", "EDGE")
            for i in rings:
                mesh.attributes[name].data[i].value = 0.5
        own.seam_attribute = "weak"
        for kind in ("SEAM", "SHARP", "CREASE", "ATTRIBUTE"):
            own.seam_edges = kind
            weak = self.capture().bodies[0].weak
            x = self.capture().bodies[0].vertices[weak.edges][:, :, 0]
            self.assertEqual(len(weak.edges), 4, kind)
            np.testing.assert_allclose(x, -0.5, atol=1e-6)
        own.seam_edges = "FREESTYLE"
        shot = self.capture()
        self.assertIsNone(shot.bodies[0].weak)
        self.assertIn("No edge of 'Bar' is marked", " ".join(shot.warnings))

    def test_what_cannot_be_is_a_sentence(self):
        obj = bar()
        own = obj.pliant
        for prepare, sentence in (
            (lambda: setattr(own.material, "goal", "QUADRATIC"), "quadratic goals hold it"),
            (
                lambda: (setattr(own.clusters, "levels", 2), setattr(own.clusters, "level_kind", "INDEPENDENT")),
                "independent levels",
            ),
            (lambda: setattr(own.fracture, "seam_group", "Nope"), "no vertex group 'Nope'"),
            (
                lambda: (
                    setattr(own.fracture, "seam_edges", "ATTRIBUTE"),
                    setattr(own.fracture, "seam_attribute", "gone"),
                ),
                "attribute 'gone'",
            ),
            (lambda: setattr(own.fracture, "seam_attribute", "position"), "no number or switch"),
            (lambda: setattr(own.fracture, "seam_attribute", ""), "choose it"),
        ):
            prepare()
            with self.assertRaisesRegex(capture.CaptureError, sentence):
                self.capture()
            own.material.goal, own.clusters.levels, own.fracture.seam_group = "RIGID", 1, ""

    def test_later_toughness_may_change_earlier_may_not(self):
        own = bar().pliant.fracture
        before = fingerprint.fingerprint(self.capture())
        own.keyframe_insert("toughness", frame=6)
        own.toughness = 2.0
        own.keyframe_insert("toughness", frame=8)
        after = fingerprint.fingerprint(self.capture())
        self.assertIsNone(before.difference(after, 6))
        self.assertEqual(before.difference(after, 12), "the fracture of 'Bar' at frame 7")
        own.seam_edges = "SHARP"
        for edge in bpy.data.objects["Bar"].data.edges:
            edge.use_edge_sharp = True
        self.assertEqual(before.difference(fingerprint.fingerprint(self.capture()), 0), "the weak places of 'Bar'")


class Bakes(Breaking):
    def bake(self, **settings):
        obj = bpy.data.objects.get("Bar") or bar()
        for name, value in settings.items():
            setattr(obj.pliant.fracture, name, value)
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        return runs.last_message[self.scene.name][1]

    def last(self, channel, frame=12):
        cache = support.addon("blender.folders").cache_of(self.scene)
        with cache.open_store() as store:
            return store.read(0, frame, channel, origin=cache.origin)

    def test_the_message_counts_pieces(self):
        self.assertRegex(self.bake(toughness=0.08), r", [2-9]\d* pieces")
        self.assertRegex(self.bake(toughness=9.0), ", 1 piece[.]")

    def test_nothing_breaks_before_its_first_frame(self):
        self.bake(toughness=0.05, use_first_frame=True, first_frame=9)
        counts = [len(self.last(solver.Channel.POSITION, frame)) for frame in (7, 8, 9, 10)]
        with solver.Scene(threads=1) as scene:
            cache = support.addon("blender.folders").cache_of(self.scene)
            with cache.open_store() as store:
                store.restore(scene)
            times = scene.bodies()[0].read(solver.Channel.SPLIT_TIME)
        self.assertGreater(len(times), 0)
        self.assertGreater(times.min() + 1, 8.0, counts)
        self.assertLess(times.min() + 1, 9.01)

    def test_it_breaks_where_it_is_weak(self):
        """Anywhere, at the marked ring, at the painted end."""
        obj = bar()
        mesh = obj.data
        for edge in mesh.edges:
            edge.use_seam = all(abs(mesh.vertices[v].co.x - 0.5) < 1e-6 for v in edge.vertices)
        weak = obj.vertex_groups.new(name="Weak")
        weak.add([v.index for v in mesh.vertices if abs(v.co.x + 0.5) < 0.01], 1.0, "REPLACE")
        for wanted, chosen in (
            (0.5, {"seam_edges": "SEAM", "seam_group": ""}),
            (-0.5, {"seam_edges": "NONE", "seam_group": "Weak"}),
        ):
            self.bake(toughness=0.15, seam_toughness=0.05, most_pieces=2, **chosen)
            with solver.Scene(threads=1) as scene:
                cache = support.addon("blender.folders").cache_of(self.scene)
                with cache.open_store() as store:
                    store.restore(scene)
                body = scene.bodies()[0]
                place = body.read(solver.Channel.SPLIT_PLANE)[:, 0]
                self.assertEqual(body.info.pieces, 2)
            self.assertLess(np.abs(place - wanted).mean(), 0.2, (wanted, place))

    def splits(self):
        """Where and when (frames) the baked bar was split, and in how many pieces of which mass it is."""
        cache = support.addon("blender.folders").cache_of(self.scene)
        with solver.Scene(threads=1) as scene:
            with cache.open_store() as store:
                store.restore(scene)
            body = scene.bodies()[0]
            _, piece = np.unique(body.read(solver.Channel.PIECE), return_inverse=True)
            return (
                body.read(solver.Channel.SPLIT_PLANE)[:, 0],
                body.read(solver.Channel.SPLIT_TIME) + 1,
                np.bincount(piece, body.read(solver.Channel.MASS)),
            )

    def test_painted_toughness(self):
        """It breaks where the group is not painted, as the panel's two factors say."""
        obj = bar()
        tough = obj.vertex_groups.new(name="Tough")
        tough.add([v.index for v in obj.data.vertices if abs(v.co.x - 0.4) > 0.2], 1.0, "REPLACE")
        obj.pliant.paint.toughness_group = "Tough"
        obj.pliant.paint.toughness_zero, obj.pliant.paint.toughness_one = 0.1, 2.0
        self.bake(toughness=0.15, most_pieces=2)
        place, _, mass = self.splits()
        self.assertEqual(len(mass), 2)
        self.assertLess(np.abs(place - 0.4).max(), 0.25, place)

    def test_keyframed_toughness(self):
        """It holds until the curve comes down."""
        own = bar().pliant.fracture
        for frame, value in ((7, 9.0), (8, 0.02)):
            own.toughness = value
            own.keyframe_insert("toughness", frame=frame)
        self.bake()
        _, times, mass = self.splits()
        self.assertGreater(len(mass), 1)
        self.assertGreaterEqual(times.min(), 7.0)
        self.assertLess(times.min(), 8.01)

    def test_limits_on_pieces(self):
        self.bake(toughness=0.02, smallest_piece=0.0)
        many = self.splits()[2]
        self.assertGreater(len(many), 3)
        self.bake(most_pieces=3)
        self.assertEqual(len(self.splits()[2]), 3)
        self.bake(most_pieces=0, smallest_piece=20.0)
        mass = self.splits()[2]
        self.assertTrue(1 < len(mass) < len(many), mass)
        self.assertGreaterEqual(mass.min() / mass.sum(), 0.2)

    def test_resumed_it_is_the_same(self):
        """Pins too: particles that were made since do not change who is held."""
        obj = bar()
        obj.pliant.fracture.toughness = 0.08
        shot = self.capture()
        shot.checkpoint_every = 4
        ends = []
        for stop in (12, 10):
            cache = support.addon("bake.cache").Cache.create(self.folder / f"to {stop}", shot)
            whole, shot.frames = shot.frames, shot.frames[:stop]
            job.Job(shot, cache).run()
            shot.frames = whole
            if stop < 12:
                again = job.Job(shot, cache, resume=True)
                again.run()
                self.assertIsNone(again.error)
                self.assertGreater(sum(again.pieces.values()), 1)
            with cache.open_store() as store:
                ends.append(store.read(0, 12, solver.Channel.POSITION))
        np.testing.assert_array_equal(*ends)


class Presets(Breaking):
    NAMES = ("Glass-like", "Ceramic", "Chocolate", "Bread", "Taffy that Tears", "Flesh that Tears")

    def test_they_break_and_others_do_not_any_more(self):
        obj = bar()
        obj.pliant.fracture.use_fracture = False
        for name in self.NAMES:
            presets.apply(obj, name)
            self.assertTrue(obj.pliant.fracture.use_fracture, name)
            self.assertAlmostEqual(obj.pliant.fracture.toughness, presets.BREAKS[name]["toughness"])
        presets.apply(obj, "Rubber")
        self.assertFalse(obj.pliant.fracture.use_fracture)
        obj.pliant.fracture.use_fracture, obj.pliant.fracture.toughness = True, 0.33
        presets.apply(obj, "Jelly")
        self.assertTrue(obj.pliant.fracture.use_fracture)
        self.assertAlmostEqual(obj.pliant.fracture.toughness, 0.33)

    def test_what_is_the_artists_stays(self):
        obj = bar()
        inside = bpy.data.materials.new("Inside")
        own = obj.pliant.fracture
        own.interior, own.seam_edges, own.most_pieces = inside, "SHARP", 5
        for name in (*self.NAMES, "Rubber"):
            presets.apply(obj, name)
        self.assertEqual((own.interior, own.seam_edges, own.most_pieces), (inside, "SHARP", 5))


class Other(Breaking):
    def test_copied_to_others(self):
        source, target = bar(), bar("Other")
        target.pliant.fracture.use_fracture = False
        source.pliant.fracture.toughness = 0.77
        source.pliant.fracture.interior = bpy.data.materials.new("Inside")
        roles.copy_settings(source.pliant, target.pliant)
        own = target.pliant.fracture
        self.assertEqual((own.use_fracture, own.interior.name), (True, "Inside"))
        self.assertAlmostEqual(own.toughness, 0.77)

    def test_panel_says_what_is_wrong(self):
        obj = bar()
        own = obj.pliant.fracture
        own.seam_group, own.seam_edges = "Gone", "ATTRIBUTE"
        found = " ".join(panels_fracture.problems_of(obj))
        self.assertIn('no vertex group "Gone"', found)
        self.assertIn("choose it", found)

    def test_command_line(self):
        bar()
        bpy.data.materials.new("Crumb").use_fake_user = True
        blend = self.folder / "bar.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        said = io.StringIO()
        with redirect_stdout(said):
            code = cli.main(
                [
                    "bake",
                    "--blend",
                    str(blend),
                    "--out",
                    str(self.folder / "out"),
                    "--log-json",
                    "--set",
                    "fracture.toughness=.08",
                    "--set",
                    "fracture.interior=Crumb",
                    "--set",
                    "fracture.seam_edges=seam",
                ]
            )
        self.assertEqual(code, 0, said.getvalue())
        events = [json.loads(line) for line in said.getvalue().splitlines() if line[:1] == "{"]
        pieces = [e for e in events if e["event"] == "pieces"]
        self.assertEqual([e["object"] for e in pieces], ["Bar"])
        self.assertGreater(pieces[0]["pieces"], 1)
        self.assertEqual([e for e in events if e["event"] == "frame"][-1]["pieces"], pieces[0]["pieces"])
        self.assertEqual(bpy.data.objects["Bar"].pliant.fracture.interior.name, "Crumb")
        with redirect_stdout(said := io.StringIO()):
            code = cli.main(
                ["bake", "--blend", str(blend), "--out", str(self.folder / "out"), "--set", "fracture.interior=Nobody"]
            )
        self.assertNotEqual(code, 0)
        self.assertIn("there is no material 'Nobody'", said.getvalue())
        self.assertTrue(math.isfinite(code))


if __name__ == "__main__":
    unittest.main()
