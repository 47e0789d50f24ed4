# SPDX-License-Identifier: GPL-3.0-or-later
"""Accidents during a bake: each ends with a sentence, and finished frames are kept."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import bpy
import support
import numpy as np
from test_bake_operators import Bakes, caches, folders, jobs, modifiers, operators, pc2, runs

lock = support.addon("bake.lock")
HERE = Path(__file__).resolve().parent


class DuringABake(Bakes):
    """The run is stepped as the modal operator does it, and something happens."""

    def setUp(self):
        super().setUp()
        self.scene.frame_end = 400

    def stopped(self, run, *words):
        kind, sentence = self.to_the_end(run)
        for word in words:
            self.assertIn(word, sentence)
        cache = caches.Cache.open(self.place / "cache")
        cache.check()
        self.assertGreaterEqual(cache.baked()[1], 3)

    def test_body_deleted(self):
        run = self.run_until(4)
        bpy.data.objects.remove(self.obj)
        self.stopped(run, "'Suzanne' was removed or renamed", "kept")

    def test_body_renamed(self):
        run = self.run_until(4)
        self.obj.name = "Bob"
        self.stopped(run, "'Suzanne' was removed or renamed")
        self.obj.name = "Suzanne"
        self.scene.frame_end = folders.baked_range(self.scene)[1] + 2
        self.assertEqual(bpy.ops.pliant.resume(), {"FINISHED"})

    def test_collider_deleted_does_no_harm(self):
        run = self.run_until(4)
        bpy.data.objects.remove(self.scene.objects["Plane"])
        run.step(0.01)
        self.assertFalse(run.ended)
        run.cancel()
        self.to_the_end(run)

    def test_scene_removed(self):
        other = bpy.data.scenes.new("Other")
        run = self.run_until(4)
        bpy.data.scenes.remove(self.scene)
        kind, sentence = self.to_the_end(run)
        self.assertIn("The scene 'Scene' was removed", sentence)
        self.assertEqual(bpy.data.scenes[:], [other])

    def test_objects_changed_in_every_way_while_it_simulates(self):
        run = self.run_until(3)
        self.obj.data = bpy.data.meshes.new("Empty")
        self.obj.pliant.role = "NONE"
        self.obj.hide_viewport = True
        self.scene.pliant.folder = str(self.place / "elsewhere")
        run.step(0.01)
        run.cancel()
        self.to_the_end(run)
        caches.Cache.open(self.place / "cache").check()

    def test_another_file_is_opened(self):
        run = self.run_until(4)
        scene = support.fresh()
        self.assertEqual(run.job.state, jobs.CANCELLED)
        self.assertIsNone(operators.running(scene))
        self.assertGreaterEqual(caches.Cache.open(self.place / "cache").baked()[1], 4)

    def test_another_file_is_opened_while_the_scene_is_read(self):
        run = runs.Run(self.scene)
        runs.add(run)
        next(run.capturing)
        support.fresh()
        run.step(0.01)  # a late tick
        self.assertTrue(run.ended)
        self.assertFalse((self.place / "cache").exists())

    def test_add_on_is_disabled_and_enabled(self):
        run = self.run_until(4)
        support.disable()
        try:
            self.assertEqual(run.job.state, jobs.CANCELLED)
            self.assertFalse(hasattr(bpy.types.Scene, "pliant"))
        finally:
            support.enable()
        scene = bpy.context.scene
        # whatever Python modules are now, the settings are in the file
        self.assertEqual(scene.objects["Suzanne"].pliant.role, "BODY")
        self.assertTrue(bpy.ops.pliant.bake.poll())

    def test_undo_while_the_scene_is_read(self):
        self.obj.modifiers.new("Fine", "SUBSURF")
        self.scene.frame_set(7)
        run = runs.Run(self.scene)
        runs.add(run)
        next(run.capturing)
        for handler in [h for h in bpy.app.handlers.undo_post if h.__module__.startswith(support.PACKAGE)]:
            handler(self.scene)
        self.assertTrue(run.ended)
        kind, sentence = runs.end(run)
        self.assertIn("Undo or redo stopped the bake", sentence)
        self.assertEqual(self.scene.frame_current, 7)
        self.assertTrue(self.obj.modifiers["Fine"].show_viewport)

    def test_playback_modifier_removed(self):
        run = self.run_until(4)
        modifiers.remove_playback(self.obj)
        run.step(0.01)
        run.cancel()
        self.to_the_end(run)
        self.assertIsNotNone(modifiers.find_playback(self.obj))

    def test_edit_mode_while_it_simulates(self):
        run = self.run_until(3)
        bpy.context.view_layer.objects.active = self.obj
        bpy.ops.object.mode_set(mode="EDIT")
        run.step(0.01)
        run.cancel()
        self.to_the_end(run)
        bpy.ops.object.mode_set(mode="OBJECT")

    def test_cache_folder_removed(self):
        run = self.run_until(4)
        while (self.place / "cache").exists():  # the job is writing in it
            shutil.rmtree(self.place / "cache", ignore_errors=True)
        kind, sentence = self.to_the_end(run)
        self.assertEqual(kind, "ERROR")
        self.assertIn(str(self.place / "cache"), sentence)


class Disks(Bakes):
    def test_folder_that_cannot_be_made(self):
        (self.place / "file").write_text("")
        for folder in ("/proc/pliant", str(self.place / "file"), str(self.place / "file" / "in")):
            self.scene.pliant.folder = folder
            self.refused("annot", bpy.ops.pliant.bake)
            self.refused(folder, bpy.ops.pliant.bake)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_folder(self):
        (self.place / "cache").mkdir()
        (self.place / "cache").chmod(0o500)
        self.refused("may not be written", bpy.ops.pliant.bake)

    def test_read_only_as_blender_sees_it(self):
        with mock.patch.object(Path, "mkdir", side_effect=OSError(30, "Read-only file system")):
            self.refused("read-only", bpy.ops.pliant.bake)

    def test_full_disk(self):
        """Files may not grow beyond some size, which fails as a full disk does: in the middle."""
        row = 12 * len(self.obj.data.vertices)
        old = resource.getrlimit(resource.RLIMIT_FSIZE)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        run = runs.Run(self.scene)
        runs.add(run)
        for _ in run.capturing:
            pass
        run.job = run._make_job()
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (32 + 6 * row + 100, old[1]))
            run.job.run()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)
        kind, sentence = runs.end(run)
        self.assertEqual(kind, "ERROR")
        self.assertIn(str(self.place / "cache"), sentence)
        self.assertGreaterEqual(folders.baked_range(self.scene)[1], 6)
        self.assertEqual(bpy.ops.pliant.resume(), {"FINISHED"})
        resumed = self.bits()
        bpy.ops.pliant.bake()
        self.assertEqual(self.bits(), resumed)


class TwoWriters(Bakes):
    """Another Blender, or the command line, bakes into the same folder."""

    def test_refused_by_every_operator_and_nothing_is_touched(self):
        bpy.ops.pliant.bake()
        folder = self.place / "cache"
        owner = {"host": "farm-7", "pid": 4321, "since": "today", "token": "a"}
        (folder / lock.NAME).write_text(json.dumps(owner))
        before, frames = self.files(folder), self.seen(9)
        self.scene.frame_end = 14
        self.scene.frame_set(5)
        for operator in (
            bpy.ops.pliant.bake,
            bpy.ops.pliant.resume,
            bpy.ops.pliant.rebake_from_current,
            bpy.ops.pliant.clear,
        ):
            self.refused("is being written to by process 4321 on farm-7, since today", operator)
        self.assertEqual(self.files(folder), before)
        np.testing.assert_array_equal(self.seen(9), frames)  # still played
        (folder / lock.NAME).unlink()
        self.assertEqual(bpy.ops.pliant.resume(), {"FINISHED"})
        self.assertEqual(folders.baked_range(self.scene), (1, 14))
        self.assertEqual(bpy.ops.pliant.clear(), {"FINISHED"})
        self.assertFalse(folder.exists())

    def test_begun_while_the_scene_was_read(self):
        run = runs.Run(self.scene)
        runs.add(run)
        next(run.capturing)
        other = lock.Lock(caches.make_folder(self.place / "cache"))
        kind, sentence = self.to_the_end(run)
        self.assertEqual(kind, "ERROR")
        self.assertIn("is being written to by this very program", sentence)
        other.release()

    def test_a_cache_that_another_bakes_is_not_saved_over(self):
        self.scene.pliant.folder = ""
        bpy.ops.wm.save_as_mainfile(filepath=str(self.place / "a.blend"))
        bpy.ops.pliant.bake()
        mine = folders.folder_of(self.scene)
        theirs = folders.folder_in(str(self.place / "b.blend"), self.scene)
        shutil.copytree(mine, theirs)
        other = lock.Lock(theirs)
        before = self.files(theirs)
        bpy.ops.wm.save_as_mainfile(filepath=str(self.place / "b.blend"))
        self.assertEqual(self.files(theirs), before)
        other.release()

    @staticmethod
    def files(folder):
        return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Damage(Bakes):
    def setUp(self):
        super().setUp()
        run = self.run_until(6)
        run.cancel()
        self.to_the_end(run)
        if self.cache.is_complete():
            self.skipTest("it was done before it could be stopped")
        self.folder = self.place / "cache"

    def edit(self, **changes):
        data = json.loads((self.folder / "bake.json").read_text())
        data.update(changes)
        (self.folder / "bake.json").write_text(json.dumps(data))

    def test_other_version(self):
        self.edit(format=2)
        self.refused("format 2", lambda: bpy.ops.pliant.resume())

    def refused(self, sentence, call):
        """Either the button is grey or the operator says why."""
        try:
            if not bpy.ops.pliant.resume.poll():
                with self.assertRaises(caches.CacheError) as caught:
                    caches.Cache.open(self.folder).check()
            else:
                with self.assertRaises(RuntimeError) as caught:
                    call()
        finally:
            self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})  # baking anew always works
        self.assertIn(sentence, str(caught.exception))

    def test_damaged_description(self):
        (self.folder / "bake.json").write_text("{")
        self.refused("bake.json is damaged", lambda: bpy.ops.pliant.resume())

    def test_damaged_journal(self):
        (self.folder / "frames" / "journal.plj").write_bytes(b"\0" * 100)
        self.refused("frames", lambda: bpy.ops.pliant.resume())

    def test_damaged_checkpoint(self):
        for path in (self.folder / "frames").glob("check-*"):
            os.truncate(path, 100)
        bpy.ops.pliant.resume()  # from the start: the frames that are there are compared
        resumed = self.bits()
        bpy.ops.pliant.bake()
        self.assertEqual(self.bits(), resumed)

    def test_missing_frames(self):
        for path in (self.folder / "frames").glob("frame-*"):
            path.unlink()
        bpy.ops.pliant.resume()  # checkpoints are enough; frames after the last are made again
        self.cache.check()

    def test_tampered_point_cache_is_found(self):
        os.truncate(self.folder / "00-Suzanne.pc2", 1000)
        with self.assertRaises(caches.CacheError):
            self.cache.check()
        bpy.ops.pliant.resume()
        resumed = self.bits()
        bpy.ops.pliant.bake()
        self.assertEqual(self.bits(), resumed)


class Library(Bakes):
    def test_missing(self):
        with mock.patch.dict(os.environ, PLIANT_LIBRARY=str(self.place / "none.so")):
            self.refused("PLIANT_LIBRARY names", bpy.ops.pliant.bake)

    def test_not_a_library(self):
        path = self.place / "text.so"
        path.write_text("text")
        with mock.patch.dict(os.environ, PLIANT_LIBRARY=str(path)):
            self.refused("cannot be loaded", bpy.ops.pliant.bake)


def sheet(side):
    """2 * side^2 triangles, made of arrays."""
    count = side + 1
    x, y = (grid.reshape(-1) for grid in np.meshgrid(np.arange(count), np.arange(count)))
    points = np.stack([x, y, 20 * np.sin(x / 90)], -1).astype(np.float32) / side
    corner = (np.arange(side)[:, None] * count + np.arange(side)).reshape(-1)
    faces = np.concatenate(
        [
            np.stack([corner, corner + 1, corner + count + 1], -1),
            np.stack([corner, corner + count + 1, corner + count], -1),
        ]
    )
    mesh = bpy.data.meshes.new("Sheet")
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.reshape(-1))
    mesh.loops.add(faces.size)
    mesh.loops.foreach_set("vertex_index", faces.reshape(-1).astype(np.int32))
    mesh.polygons.add(len(faces))
    mesh.polygons.foreach_set("loop_start", np.arange(0, faces.size, 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    return mesh


@support.oldest_and_newest
class Large(Bakes):
    def test_two_million_faces(self):
        self.obj.data = sheet(1000)
        self.obj.scale = (2, 2, 2)
        self.scene.frame_end = 3
        self.assertEqual(len(self.obj.data.polygons), 2000000)
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        self.cache.check()
        self.assertEqual(folders.baked_range(self.scene), (1, 3))


KILLED = """
import sys
sys.path[:0] = [{here!r}]
sys.dont_write_bytecode = True
import support
support.prepare()
import bpy
support.enable()
bpy.ops.wm.open_mainfile(filepath={blend!r})
bpy.ops.pliant.bake()
"""


class Killed(Bakes):
    def test_kill_and_resume_give_the_same_bits(self):
        self.scene.frame_end = 40
        bpy.ops.pliant.bake()
        whole = self.bits()
        bpy.ops.pliant.clear()
        blend = str(self.place / "shot.blend")
        bpy.ops.wm.save_as_mainfile(filepath=blend)
        script = KILLED.format(here=str(HERE), blend=blend)
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path, until = self.place / "cache" / "00-Suzanne.pc2", time.monotonic() + 120
        try:
            while process.poll() is None and time.monotonic() < until:
                try:
                    if pc2.check(path).frames >= 7:
                        break
                except pc2.Pc2Error:
                    pass
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.assertIsNone(operators.running(self.scene))
        baked = folders.baked_range(self.scene)
        self.assertGreaterEqual(baked[1], 7)
        if baked[1] == 40:
            self.skipTest("it was faster than its killer")
        self.assertEqual(bpy.ops.pliant.resume(), {"FINISHED"})
        self.assertEqual(self.bits(), whole)
        with self.cache.open_store() as store:
            store.verify()


if __name__ == "__main__":
    unittest.main()
