# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line on files made without the add-on: results, settings, exit codes."""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from pathlib import Path
from unittest import mock

import bpy
import support
import numpy as np

cli, baking, failures, setting, caches, pc2, folders = (
    support.addon(name)
    for name in (
        "cli",
        "command.baking",
        "command.failures",
        "command.setting",
        "bake.cache",
        "bake.formats.pc2",
        "blender.folders",
    )
)
SCRIPT = support.ROOT / "addon" / "cli.py"
SMALL = ["--objects", "Head", "--colliders", "Floor", "--set", "particles.count=150"]


def make_shot(path, edit=None):
    """A .blend file as someone without the add-on has it."""
    support.fresh()
    bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 1.2))
    bpy.context.object.name = "Head"
    bpy.ops.mesh.primitive_plane_add(size=20)
    bpy.context.object.name = "Floor"
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, location=(0, 0, 1.2))
    bpy.context.object.name = "Dense"
    bpy.context.scene.frame_end = 6
    if edit:
        edit(bpy.context.scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def run(*arguments):
    """In this process: (exit code, what it printed)."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = cli.main([str(a) for a in arguments])
    return code, said.getvalue()


def start(*arguments, **options):
    """As a script in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-u", str(SCRIPT), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


class WithShot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        cls.blend = cls.folder / "shot.blend"
        make_shot(cls.blend)

    def bake(self, out, *more, small=SMALL):
        return run("bake", "--blend", self.blend, "--out", self.folder / out, *small, *more)


class Bake(WithShot):
    def test_file_that_never_saw_the_add_on(self):
        before = self.blend.read_bytes()
        formats = "pc2,mdd,shape_keys" + (",abc" if bpy.app.build_options.alembic else "")
        saved = self.folder / "kept" / "done.blend"
        code, said = self.bake(
            "formats",
            "--frames",
            "1-5",
            "--format",
            formats,
            "--preset",
            "jelly",
            "--set",
            "material.stiffness=7",
            "--save",
            saved,
        )
        self.assertEqual(code, 0, said)
        self.assertEqual(self.blend.read_bytes(), before)
        for ending in ("pc2", "mdd", "abc")[: 3 if "abc" in formats else 2]:
            path = self.folder / "formats" / f"00-Head.{ending}"
            self.assertIn(f"Saved: '{path}'", said)
            self.assertTrue(path.stat().st_size > 1000, path)
        self.assertEqual(len(re.findall(r"^Frame \d of 5 .*Time: \d\d:\d\d", said, re.M)), 5, said)
        rows = pc2.frames(self.folder / "formats" / "00-Head.pc2")
        self.assertEqual(rows.shape, (5, 507, 3))
        bpy.ops.wm.open_mainfile(filepath=str(saved))
        head = bpy.data.objects["Head"]
        self.assertEqual(head.pliant.role, "BODY")
        self.assertEqual(head.pliant.material.preset, "Jelly")
        self.assertEqual(head.pliant.material.frequency, 7)
        self.assertEqual((bpy.context.scene.pliant.frame_start, bpy.context.scene.pliant.frame_end), (1, 5))
        self.assert_plays(head, rows)

    def assert_plays(self, obj, rows, tolerance=1e-4):
        scene = bpy.context.scene
        for frame in (1, len(rows)):
            scene.frame_set(frame)
            mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            shown = np.empty(3 * len(mesh.vertices), np.float32)
            mesh.attributes["position"].data.foreach_get("vector", shown)
            np.testing.assert_allclose(shown.reshape(-1, 3), rows[frame - 1], atol=tolerance)

    def test_saved_file_has_the_bake_beside_it(self):
        saved = self.folder / "beside" / "done.blend"
        code, said = run("bake", "--blend", self.blend, *SMALL, "--save", saved)
        self.assertEqual(code, 0, said)
        self.assertFalse((self.folder / "pliant_cache").exists())
        rows = pc2.frames(saved.parent / "pliant_cache" / "done" / "Scene" / "00-Head.pc2")
        moved = saved.parent.rename(self.folder / "elsewhere")
        bpy.ops.wm.open_mainfile(filepath=str(moved / "done.blend"))
        self.assertEqual(bpy.context.scene.pliant.folder, "")
        self.assert_plays(bpy.data.objects["Head"], rows, 0)

    def test_saved_file_finds_a_folder_that_moves_with_it(self):
        place = self.folder / "project"
        code, said = run(
            "bake", "--blend", self.blend, *SMALL, "--out", place / "bakes" / "a", "--save", place / "done.blend"
        )
        self.assertEqual(code, 0, said)
        moved = place.rename(self.folder / "project moved")
        bpy.ops.wm.open_mainfile(filepath=str(moved / "done.blend"))
        self.assertEqual(folders.folder_of(bpy.context.scene), moved / "bakes" / "a")
        self.assert_plays(bpy.data.objects["Head"], pc2.frames(moved / "bakes" / "a" / "00-Head.pc2"), 0)

    def test_saving_a_file_over_itself_keeps_versions(self):
        blend = self.folder / "versions.blend"
        shutil.copyfile(self.blend, blend)
        filepaths = bpy.context.preferences.filepaths
        self.addCleanup(setattr, filepaths, "save_version", filepaths.save_version)
        filepaths.save_version = 2
        before = [blend.read_bytes()]
        for count in (150, 160, 170):
            code, said = run(
                "cluster", "--blend", blend, "--objects", "Head", "--set", f"particles.count={count}", "--save", blend
            )
            self.assertEqual(code, 0, said)
            before.append(blend.read_bytes())
        found = sorted(path.name for path in self.folder.glob("versions.blend*"))
        self.assertEqual(found, ["versions.blend", "versions.blend1", "versions.blend2"])
        self.assertEqual(Path(f"{blend}1").read_bytes(), before[2])
        self.assertEqual(Path(f"{blend}2").read_bytes(), before[1])
        self.assertEqual(filepaths.save_version, 2)

    def test_the_files_own_folder_is_kept(self):
        def own(scene):
            scene.pliant.folder = "//mine"

        make_shot(self.folder / "own.blend", own)
        saved = self.folder / "own place" / "done.blend"
        code, said = run("bake", "--blend", self.folder / "own.blend", *SMALL, "--save", saved)
        self.assertEqual(code, 0, said)
        self.assertTrue((saved.parent / "mine" / "bake.json").is_file())
        bpy.ops.wm.open_mainfile(filepath=str(saved))
        self.assertEqual(bpy.context.scene.pliant.folder, "//mine")
        code, said = run("cluster", "--blend", saved, "--out", self.folder / "arrays", "--save", saved)
        self.assertEqual(code, 0, said)
        self.assertEqual(bpy.context.scene.pliant.folder, "//mine")

    def test_lines_as_json(self):
        code, said = self.bake("json", "--log-json")
        self.assertEqual(code, 0)
        events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        frames = [e["frame"] for e in events if e["event"] == "frame"]
        self.assertEqual(frames, [1, 2, 3, 4, 5, 6])
        self.assertEqual(events[0]["bodies"], ["Head"])
        self.assertEqual(events[-1]["event"], "done")
        self.assertTrue(all("message" in event for event in events))

    def test_no_frame_goes_untold(self):
        """However the job's threads go on while lines are written."""

        class Racing:
            shot = types.SimpleNamespace(start=1, end=40)
            resume, state, stage, seconds_left, contacts = False, "simulating", "", None, None
            pieces = {}
            looks = 0

            @property
            def frame(self):
                self.looks += 1
                return min(self.looks, self.shot.end)

            def wait(self, _seconds):
                return self.looks >= self.shot.end

        told = []
        log = types.SimpleNamespace(say=lambda event, text, **more: told.append(more["frame"]))
        baking._watch(Racing(), log, types.SimpleNamespace(received=None))
        self.assertEqual(told, list(range(1, 41)))

    def test_only_those_named_have_a_role(self):
        support.fresh()
        code, said = self.bake("roles", "--frames", "1-2", "--save", self.folder / "roles.blend")
        self.assertEqual(code, 0, said)
        code, said = run(
            "bake",
            "--blend",
            self.folder / "roles.blend",
            "--objects",
            "Dense",
            "--set",
            "particles.count=100",
            "--frames",
            "1-2",
            "--out",
            self.folder / "roles2",
        )
        self.assertEqual(code, 0, said)
        self.assertEqual([b.name for b in caches.Cache.open(self.folder / "roles2").bodies], ["Dense"])

    def test_threads_and_process_change_nothing(self):
        self.assertEqual(self.bake("one", "--threads", "1")[0], 0)
        process = start("bake", "--blend", self.blend, "--out", self.folder / "two", *SMALL)
        said = process.communicate(timeout=120)[0]
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(*((self.folder / n / "00-Head.pc2").read_bytes() for n in ("one", "two")))

    def test_finished_bake_is_left_alone(self):
        self.assertEqual(self.bake("again")[0], 0)
        before = {p: p.stat().st_mtime_ns for p in (self.folder / "again").rglob("*") if p.is_file()}
        code, said = self.bake("again", "--resume")
        self.assertEqual(code, 0, said)
        self.assertIn("are baked already", said)
        after = {p: p.stat().st_mtime_ns for p in (self.folder / "again").rglob("*") if p.is_file()}
        self.assertEqual(after, before)

    def test_resume_goes_on_and_refuses_other_settings(self):
        self.assertEqual(self.bake("whole", "--frames", "1-9")[0], 0)
        self.assertEqual(self.bake("parts", "--frames", "1-4", "--resume")[0], 0)
        code, said = self.bake("parts", "--frames", "1-9", "--resume")
        self.assertEqual(code, 0, said)
        self.assertEqual(*((self.folder / n / "00-Head.pc2").read_bytes() for n in ("whole", "parts")))
        code, said = self.bake("parts", "--frames", "1-12", "--resume", "--set", "material.drag=1")
        self.assertEqual(code, failures.BAKE, said)
        self.assertIn("material of 'Head'", said)

    def test_quick_bake_is_apart(self):
        code, said = self.bake("q", "--quick", "0.5", "--frames", "1-2")
        self.assertEqual(code, 0, said)
        self.assertTrue((self.folder / "q-quick" / "bake.json").is_file())
        self.assertFalse((self.folder / "q").exists())


@support.oldest_and_newest
class Signals(WithShot):
    LAST = 90
    LONG = [
        "--objects",
        "Head",
        "--colliders",
        "Floor",
        "--set",
        "particles.count=3000",
        "--frames",
        f"1-{LAST}",
        "--set",
        "scene.checkpoint_every=3",
        "--threads",
        "1",
    ]

    def wait_for_frames(self, process, count):
        """Returns the last of so many frames that a process says it has finished."""
        lines = []
        for line in process.stdout:
            lines.append(line)
            found = re.match(r"Frame (\d+) of", line)
            if found:
                count -= 1
                if not count:
                    return int(found[1])
        self.fail("".join(lines))

    def check_no_second_writer(self, pid, begin):
        """While a process bakes, others neither bake nor clear there, and nothing tears."""
        for arguments in (
            begin,
            [a for a in begin if a != "--resume"],
            ["clear", "--blend", self.blend, "--out", self.folder / "stopped"],
        ):
            code, said = run(*arguments)
            self.assertEqual(code, failures.LOCKED, said)
            self.assertRegex(said, f"stopped is being written to by process {pid} on this machine")

    def test_stop_keeps_frames_and_resume_gives_the_same_bits(self):
        whole = run("bake", "--blend", self.blend, "--out", self.folder / "whole", *self.LONG)
        self.assertEqual(whole[0], 0, whole[1])
        begin = ["bake", "--blend", self.blend, "--out", self.folder / "stopped", "--resume", *self.LONG]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            process = start(*begin)
            frame = self.wait_for_frames(process, 4)
            if number == signal.SIGINT:
                self.check_no_second_writer(process.pid, begin)
            process.send_signal(number)
            begun = time.monotonic()
            said = process.communicate(timeout=60)[0]
            self.assertLess(time.monotonic() - begun, 30)
            if number == signal.SIGKILL:
                self.assertEqual(process.returncode, -signal.SIGKILL)
                continue
            self.assertEqual(process.returncode, failures.BY_SIGNAL + number, said)
            self.assertRegex(said, r"Stopped; frames 1 to \d+ are kept")
            baked = caches.Cache.open(self.folder / "stopped").baked()
            self.assertTrue(frame <= baked[1] < self.LAST, (frame, baked))
        code, said = run(*begin)
        self.assertEqual(code, 0, said)
        self.assertEqual(*((self.folder / n / "00-Head.pc2").read_bytes() for n in ("whole", "stopped")))


class Refusals(WithShot):
    def assert_refused(self, code, pattern, *arguments):
        found, said = run(*arguments)
        self.assertEqual(found, code, said)
        self.assertRegex(said, pattern)
        self.assertNotIn("Traceback", said)

    def test_usage(self):
        blend = ["--blend", self.blend]
        for arguments, pattern in (
            (["bake", "--frames", "x"], "no range of frames"),
            (["bake", "--frames", "9-2"], "last is before the first"),
            (["bake", "--format", "fbx"], "no format 'fbx'"),
            (["bake", "--format", "shape_keys"], "--save"),
            (["bake", *blend, "--objects", "Head", "--preset", "Stone"], "no material 'Stone'"),
            (["bake", *blend, *SMALL, "--set", "material.dampin=1"], "mean 'damping'"),
            (["bake", *blend, *SMALL, "--set", "material.damping=-1"], "outside of 0 to 1000"),
            (["bake", *blend, *SMALL, "--set", "material.goal=SOFT"], "none of RIGID"),
            (["bake", *blend, *SMALL, "--set", "particles.count=many"], "not a whole number"),
            (["bake", *blend, *SMALL, "--set", "material.use_pressure=maybe"], "neither true"),
            (["bake", *blend, *SMALL, "--set", "nothing"], "NAME=VALUE"),
            (["bake", *blend, *SMALL, "--set", "soul.depth=1"], "settings are of"),
            (["bake", *blend, *SMALL, "--set", "material.preset.x=1"], "settings are of"),
            (["dance"], "invalid choice"),
            ([], "required"),
        ):
            self.assert_refused(failures.USAGE, pattern, *arguments)

    def test_files(self):
        self.assert_refused(failures.FILE, "There is no file", "bake", "--blend", self.folder / "none.blend")
        broken = self.folder / "broken.blend"
        broken.write_bytes(b"BLENDER-v402" + b"x" * 300)
        self.assert_refused(failures.FILE, "broken.blend", "info", "--blend", broken)
        self.assert_refused(failures.FILE, "mean 'Head'", "bake", "--blend", self.blend, "--objects", "Heda")
        self.assert_refused(failures.FILE, "no scene 'Other'", "bake", "--blend", self.blend, "--scene", "Other")

    def test_scenes(self):
        self.assert_refused(failures.SCENE, "no soft body", "bake", "--blend", self.blend)

        def spoil(scene):
            scene.objects["Head"].data.clear_geometry()
            scene.objects["Dense"].data.vertices[0].co.x = float("nan")
            scene.collection.objects.link(bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT")))

        spoilt = self.folder / "spoilt.blend"
        make_shot(spoilt, spoil)
        for name, pattern in (("Head", "no faces"), ("Dense", "NaN"), ("Lamp", "not a mesh")):
            self.assert_refused(
                failures.SCENE, pattern, "bake", "--blend", spoilt, "--objects", name, "--out", self.folder / "spoilt"
            )
        self.assertFalse((self.folder / "spoilt").exists())

    def test_bakes(self):
        self.assert_refused(
            failures.BAKE, "Nothing is baked", "export", "--blend", self.blend, "--out", self.folder / "nothing"
        )
        self.assertEqual(self.bake("damaged")[0], 0)
        (self.folder / "damaged" / "bake.json").write_text("{")
        self.assert_refused(
            failures.BAKE,
            "damaged",
            "bake",
            "--blend",
            self.blend,
            *SMALL,
            "--out",
            self.folder / "damaged",
            "--resume",
        )

    def test_disk(self):
        in_the_way = self.folder / "file"
        in_the_way.write_text("")
        self.assert_refused(
            failures.DISK, "cache folder", "bake", "--blend", self.blend, *SMALL, "--out", in_the_way / "x"
        )
        self.assert_refused(
            failures.DISK,
            "could not be saved",
            "cluster",
            "--blend",
            self.blend,
            *SMALL,
            "--save",
            in_the_way / "x.blend",
        )

    def test_library(self):
        process = start("info", "--blend", self.blend, env={**os.environ, "PLIANT_LIBRARY": "/none/libpliant.so"})
        said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, failures.INSTALLATION, said)
        self.assertIn("/none/libpliant.so", said)

    def test_exit_codes_are_documented(self):
        text = (support.ROOT / "addon" / "docs" / "command-line.md").read_text(encoding="utf-8")
        documented = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.M)}
        ours = {value for name, value in vars(failures).items() if name.isupper() and isinstance(value, int)} - {
            failures.BY_SIGNAL
        }
        self.assertEqual(documented, ours | {130, 143})
        options = re.findall(r'add_argument\(\s*"(--[a-z-]+)"', SCRIPT.read_text(encoding="utf-8"))
        self.assertGreater(len(options), 15)
        for option in options:
            self.assertIn(option, text)


class Others(WithShot):
    def test_export_other_formats_and_meshes(self):
        self.assertEqual(self.bake("export")[0], 0)
        target = self.folder / "delivered"
        code, said = run(
            "export", "--blend", self.blend, "--out", self.folder / "export", "--format", "mdd", "--to", target
        )
        self.assertEqual(code, 0, said)
        self.assertEqual(
            target.joinpath("Head.mdd").read_bytes(), (self.folder / "export" / "00-Head.mdd").read_bytes()
        )
        code, said = run(
            "export",
            "--blend",
            self.blend,
            "--out",
            self.folder / "export",
            "--bind",
            "Dense=Head",
            "--to",
            target,
            "--save",
            self.folder / "bound.blend",
        )
        self.assertEqual(code, 0, said)
        rows = pc2.frames(target / "Dense.pc2")
        self.assertEqual(rows.shape[:2], (6, 42))
        self.assertLess(rows[-1, :, 2].mean(), rows[0, :, 2].mean() - 0.1)
        bpy.ops.wm.open_mainfile(filepath=str(self.folder / "bound.blend"))
        self.assertEqual(bpy.data.objects["Dense"].pliant.result.body, "Head")

    def test_cluster_saves_the_colouring(self):
        saved = self.folder / "coloured.blend"
        code, said = run(
            "cluster",
            "--blend",
            self.blend,
            *SMALL,
            "--set",
            "clusters.levels=2",
            "--out",
            self.folder / "clusters",
            "--save",
            saved,
        )
        self.assertEqual(code, 0, said)
        numbers = json.loads((self.folder / "clusters" / "clusters.json").read_text())["Head"]
        self.assertEqual(len(numbers["clusters"]), 2)
        arrays = np.load(self.folder / "clusters" / numbers["file"])
        self.assertEqual(arrays["vertex_colours"].shape, (507, 4))
        self.assertEqual(len(arrays["particles"]), numbers["particles"])
        bpy.ops.wm.open_mainfile(filepath=str(saved))
        colour = bpy.data.objects["Head"].data.attributes["Pliant Clusters"]
        values = np.empty(507 * 4, np.float32)
        colour.data.foreach_get("color", values)
        np.testing.assert_allclose(values.reshape(-1, 4), arrays["vertex_colours"], atol=1e-6)

    def test_info_tells_what_is_there(self):
        self.assertEqual(self.bake("info", "--save", self.folder / "info.blend")[0], 0)
        code, said = run("info", "--blend", self.folder / "info.blend", "--log-json")
        events = {e["event"]: e for e in map(json.loads, (line for line in said.splitlines() if line.startswith("{")))}
        self.assertEqual(code, 0, said)
        self.assertEqual((events["baked"]["first"], events["baked"]["last"]), (1, 6))
        self.assertTrue(events["baked"]["complete"])
        self.assertEqual(events["body"]["object"], "Head")

    def test_clear_takes_only_what_is_ours(self):
        self.assertEqual(self.bake("clear", "--save", self.folder / "cleared.blend")[0], 0)
        (self.folder / "clear" / "notes.txt").write_text("mine")
        code, said = run(
            "clear",
            "--blend",
            self.folder / "cleared.blend",
            "--save",
            self.folder / "cleared.blend",
            "--out",
            self.folder / "clear",
        )
        self.assertEqual(code, 0, said)
        self.assertEqual([p.name for p in (self.folder / "clear").iterdir()], ["notes.txt"])
        bpy.ops.wm.open_mainfile(filepath=str(self.folder / "cleared.blend"))
        self.assertEqual(len(bpy.data.objects["Head"].modifiers), 0)

    def test_particles_are_made_and_cleared(self):
        saved = self.folder / "particles.blend"
        code, said = self.bake("particles", "--format", "pc2,points,surface", "--save", saved)
        self.assertEqual(code, 0, said)
        bpy.ops.wm.open_mainfile(filepath=str(saved))
        kinds = [o.pliant.result.kind for o in bpy.context.scene.objects]
        self.assertIn("POINTS", kinds)
        code, said = run("clear", "--blend", saved, "--save", saved, "--out", self.folder / "particles")
        self.assertEqual(code, 0, said)
        self.assertEqual({o.name for o in bpy.context.scene.objects if o.type == "MESH"}, {"Head", "Floor", "Dense"})


class Settings(unittest.TestCase):
    def test_values(self):
        group = support.fresh().pliant
        read = {p.identifier: p for p in group.bl_rna.properties}
        self.assertIs(setting.read_value(read["use_gravity"], "Off"), False)
        self.assertEqual(setting.read_value(read["substeps_mode"], "fixed"), "FIXED")
        self.assertEqual(setting.read_value(read["threads"], "3"), 3)
        self.assertEqual(setting.read_value(read["folder"], "//a=b"), "//a=b")
        mesh = bpy.data.objects.new("x", bpy.data.meshes.new("x"))
        start_settings = {p.identifier: p for p in mesh.pliant.start.bl_rna.properties}
        self.assertEqual(setting.read_value(start_settings["velocity"], "1,2,3"), [1, 2, 3])

    def test_command_is_registered(self):
        if not hasattr(bpy.utils, "register_cli_command"):
            self.skipTest("this Blender has no commands of its own")
        self.assertIsNotNone(cli._registered)


class FaultyDisk(WithShot):
    def test_file_that_cannot_be_read_again_is_a_failure(self):
        path, seek = self.folder / "torn.blend", setting._check_saved

        def torn(path, scene):  # as after a write that failed without Blender's noticing
            path.write_bytes(path.read_bytes()[:-20000])
            seek(path, scene)

        with mock.patch.object(setting, "_check_saved", torn):
            code, said = run("cluster", "--blend", self.blend, *SMALL, "--save", path)
        self.assertEqual(code, failures.DISK, said)
        self.assertNotIn(f"Saved: '{path}'", said)


@unittest.skipUnless(sys.platform.startswith("linux"), "RLIMIT_AS is Linux's")
class LittleMemory(WithShot):
    def test_limits_end_in_a_sentence_and_a_code(self):
        import resource

        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
        for megabytes in (500, 900, 1200, 1420, 1500):
            begun = time.monotonic()
            process = start(
                "bake",
                "--blend",
                self.blend,
                *SMALL,
                "--out",
                self.folder / "little",
                env=environment,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20,) * 2),
            )
            said = process.communicate(timeout=120)[0]
            self.assertIn(process.returncode, (0, failures.MEMORY), f"{megabytes} MB: {said}")
            self.assertTrue("memory" in said or process.returncode == 0, f"{megabytes} MB: {said}")
            self.assertTrue(megabytes > 1200 or process.returncode, f"{megabytes} MB: {said}")
            self.assertLess(time.monotonic() - begun, 60)


if __name__ == "__main__":
    unittest.main()
