# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake, Resume, Rebake, Quick Bake, Clear and Cancel called from a script, and Save As."""

import tempfile
import time
import unittest
from pathlib import Path

import bpy
import support
import numpy as np

capture, folders, meshes, modifiers = (
    support.addon(name)
    for name in ("blender.capture.capture", "blender.folders", "blender.meshes", "blender.modifiers")
)
caches, jobs, pc2 = (support.addon(name) for name in ("bake.cache", "bake.job", "bake.formats.pc2"))
operators, runs = support.addon("ui.operators.bake"), support.addon("blender.runs")


class Bakes(unittest.TestCase):
    """A monkey above a floor, twelve frames, in a folder of its own."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.scene = support.fresh()
        self.addCleanup(runs.stop_all)
        self.scene.frame_start, self.scene.frame_end = 1, 12
        self.scene.pliant.checkpoint_every = 4
        bpy.ops.mesh.primitive_plane_add(size=20)
        bpy.context.object.pliant.role = "COLLIDER"
        bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 1.5), rotation=(0.3, 0.2, 0.1))
        self.obj = bpy.context.object
        self.obj.scale = (1, 1.5, 0.8)
        self.obj.pliant.role = "BODY"
        self.obj.pliant.particles.count = 200
        self.scene.pliant.folder = str(self.place / "cache")

    @property
    def cache(self):
        return caches.Cache.open(folders.folder_of(self.scene))

    def bits(self):
        return self.cache.pc2_path(self.cache.bodies[0]).read_bytes()

    def seen(self, frame):
        self.scene.frame_set(frame)
        obj = self.scene.objects[self.obj.name]
        return meshes.positions(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)

    def refused(self, sentence, call):
        with self.assertRaises(RuntimeError) as caught:
            call()
        self.assertIn(sentence, str(caught.exception))

    def run_until(self, frame, run=None):
        """A run as the modal operator has it, up to a frame."""
        run = run or runs.Run(self.scene)
        runs.add(run)
        until = time.monotonic() + 60
        while not run.ended and (run.frame is None or run.frame < frame):
            self.assertLess(time.monotonic(), until)
            run.step(0.02)
            time.sleep(0.002)
        return run

    def to_the_end(self, run):
        until = time.monotonic() + 60
        while not run.ended:
            self.assertLess(time.monotonic(), until)
            run.step(0.02)
            time.sleep(0.002)
        return runs.end(run)


class Operators(Bakes):
    def test_bake_plays_what_the_store_has(self):
        self.scene.frame_set(7)
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        self.assertEqual(self.scene.frame_current, 7)
        cache = self.cache
        cache.check()
        self.assertEqual(folders.baked_range(self.scene), (1, 12))
        moved = 0
        for frame in (1, 6, 12):
            row = pc2.read_row(cache.pc2_path(cache.bodies[0]), frame - 1)
            np.testing.assert_array_equal(self.seen(frame), row)
            moved = max(moved, np.abs(row - meshes.positions(self.obj.data)).max())
        self.assertGreater(moved, 0.5)
        np.testing.assert_allclose(self.seen(1), meshes.positions(self.obj.data), atol=1e-5)

    def test_stack_keeps_working(self):
        self.obj.modifiers.new("Lattice", "LATTICE")
        self.obj.modifiers.new("Fine", "SUBSURF")
        bpy.ops.pliant.bake()
        self.assertEqual([m.name for m in self.obj.modifiers], ["Lattice", "Pliant", "Fine"])
        self.assertGreater(len(self.seen(5)), len(self.obj.data.vertices))
        bpy.ops.pliant.bake()  # again: no second modifier
        self.assertEqual([m.name for m in self.obj.modifiers], ["Lattice", "Pliant", "Fine"])

    def test_baking_again_gives_the_same_bits(self):
        bpy.ops.pliant.bake()
        first = self.bits()
        bpy.ops.pliant.bake()
        self.assertEqual(self.bits(), first)
        self.scene.pliant.threads = 1
        bpy.ops.pliant.bake()
        self.assertEqual(self.bits(), first)

    def test_resume_after_cancel(self):
        bpy.ops.pliant.bake()
        whole = self.bits()
        bpy.ops.pliant.clear()
        run = self.run_until(3)
        run.cancel()
        kind, sentence = self.to_the_end(run)
        self.assertEqual(kind, "INFO")
        self.assertRegex(sentence, r"frames up to \d+ are kept")
        last = folders.baked_range(self.scene)[1]
        self.assertLess(last, 12)
        self.assertEqual(bpy.ops.pliant.resume(), {"FINISHED"})
        self.assertEqual(self.bits(), whole)

    def test_resume_refuses_what_changed(self):
        run = self.run_until(3)
        run.cancel()
        self.to_the_end(run)
        self.obj.pliant.material.frequency *= 2
        self.refused("the material of 'Suzanne' at frame 1", bpy.ops.pliant.resume)
        self.obj.pliant.material.frequency /= 2
        self.obj.data.vertices[0].co.x += 0.1
        self.refused("the mesh of 'Suzanne'", bpy.ops.pliant.resume)

    def test_resume_bakes_added_frames(self):
        self.scene.frame_end = 6
        bpy.ops.pliant.bake()
        self.scene.frame_end = 9
        bpy.ops.pliant.resume()
        self.assertEqual(folders.baked_range(self.scene), (1, 9))
        self.refused("All frames are baked", bpy.ops.pliant.resume)

    def test_rebake_from_current(self):
        bpy.ops.pliant.bake()
        before = self.bits()
        self.obj.pliant.material.frequency *= 3
        self.scene.frame_set(8)
        self.assertEqual(bpy.ops.pliant.rebake_from_current(), {"FINISHED"})
        after = self.bits()
        row = 12 * len(self.obj.data.vertices)
        self.assertEqual(before[: 32 + 5 * row], after[: 32 + 5 * row])  # checkpoints: 1, 5, 9
        self.assertNotEqual(before[-row:], after[-row:])
        self.scene.frame_set(40)
        self.assertFalse(bpy.ops.pliant.rebake_from_current.poll())

    def test_quick_bake_stays_apart(self):
        bpy.ops.pliant.bake()
        whole = self.bits()
        self.assertEqual(bpy.ops.pliant.quick_bake(), {"FINISHED"})
        self.assertEqual(self.bits(), whole)
        quick = folders.cache_of(self.scene, quick=True)
        self.assertTrue(quick.quick)
        self.assertTrue(modifiers.plays_from(modifiers.find_playback(self.obj), quick.folder))
        bpy.ops.pliant.clear()
        self.assertFalse(quick.folder.exists())

    def test_clear(self):
        self.assertFalse(bpy.ops.pliant.clear.poll())
        bpy.ops.pliant.bake()
        mine = self.place / "cache" / "notes.txt"
        mine.write_text("mine")
        self.assertEqual(bpy.ops.pliant.clear(), {"FINISHED"})
        self.assertEqual([p.name for p in (self.place / "cache").iterdir()], ["notes.txt"])
        self.assertIsNone(modifiers.find_playback(self.obj))
        self.assertIsNone(folders.baked_range(self.scene))

    def test_polls_say_when(self):
        self.assertFalse(bpy.ops.pliant.cancel.poll())
        self.assertFalse(bpy.ops.pliant.resume.poll())
        self.assertTrue(bpy.ops.pliant.bake.poll())
        run = self.run_until(1)
        self.assertIs(operators.running(self.scene), run)
        self.assertTrue(bpy.ops.pliant.cancel.poll())
        self.assertFalse(bpy.ops.pliant.bake.poll())
        self.assertFalse(bpy.ops.pliant.clear.poll())
        self.assertEqual(bpy.ops.pliant.cancel(), {"FINISHED"})
        self.to_the_end(run)
        self.assertIsNone(operators.running(self.scene))
        self.obj.pliant.role = "NONE"
        self.assertFalse(bpy.ops.pliant.bake.poll())

    def test_errors_are_reported(self):
        self.obj.hide_viewport = True
        self.refused("'Suzanne' is hidden", bpy.ops.pliant.bake)
        self.obj.hide_viewport = False
        self.obj.scale = (1, 0, 1)
        self.refused("zero scale", bpy.ops.pliant.bake)
        self.assertFalse((self.place / "cache").exists())

    def test_progress_while_it_runs(self):
        run = runs.Run(self.scene)
        runs.add(run)
        self.assertEqual((run.state, run.frame), ("capturing", None))
        self.assertIn("reading", run.text())
        seen = []
        until = time.monotonic() + 60
        while not run.ended and time.monotonic() < until:
            begun = time.perf_counter()
            run.step(0.02)
            if run.job is not None:
                seen.append((run.fraction, run.frame, time.perf_counter() - begun))
            time.sleep(0.001)
        self.assertEqual(run.state, jobs.DONE)
        fractions = [s[0] for s in seen]
        self.assertEqual(fractions, sorted(fractions))
        self.assertEqual(run.fraction, 1.0)
        self.assertGreater(len({s[1] for s in seen}), 1)
        self.assertGreater(run.seconds_per_frame, 0)
        kind, sentence = runs.end(run)
        self.assertIn("Baked frames 1 to 12", sentence)

    def test_frames_play_while_the_rest_simulates(self):
        self.scene.frame_end = 4000
        run = self.run_until(6)
        shown = self.seen(5)  # Blender reads the file that is being written
        row = pc2.read_row(run.job.cache.pc2_path(run.job.cache.bodies[0]), 4)
        np.testing.assert_array_equal(shown, row)
        self.assertGreater(np.abs(shown - meshes.positions(self.obj.data)).max(), 0.01)
        self.assertFalse(run.ended)
        self.assertGreaterEqual(folders.baked_range(self.scene)[1], 6)
        run.cancel()
        self.to_the_end(run)

    def test_nothing_of_a_run_is_in_the_file(self):
        self.obj.modifiers.new("Fine", "SUBSURF")
        self.scene.frame_set(9)
        run = runs.Run(self.scene)
        runs.add(run)
        next(run.capturing)
        next(run.capturing)
        self.assertEqual(self.scene.frame_current, 2)
        path = str(self.place / "during.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
        self.to_the_end(run)
        bpy.ops.wm.open_mainfile(filepath=path)
        scene = bpy.context.scene
        self.assertEqual(scene.frame_current, 9)
        self.assertTrue(scene.objects["Suzanne"].modifiers["Fine"].show_viewport)
        self.assertIsNone(operators.running(scene))
        self.assertTrue(bpy.ops.pliant.bake.poll())


class Saving(Bakes):
    def setUp(self):
        super().setUp()
        self.scene.pliant.folder = ""
        self.scene.frame_end = 5

    def save(self, name, **options):
        path = self.place / name
        path.parent.mkdir(exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(path), **options)
        return path

    def check(self, folder, obj=None):
        """The open file plays from the cache in a folder."""
        scene = bpy.context.scene
        self.assertEqual(folders.folder_of(scene), folder)
        caches.Cache.open(folder).check()
        modifier = modifiers.find_playback(scene.objects["Suzanne"])
        self.assertTrue(modifier.filepath.startswith("//"), modifier.filepath)
        self.assertTrue(modifiers.plays_from(modifier, folder), modifier.filepath)
        self.scene = scene
        row = pc2.read_row(folder / "00-Suzanne.pc2", 4)
        scene.frame_set(5)
        obj = scene.objects["Suzanne"]
        seen = meshes.positions(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
        np.testing.assert_array_equal(seen, row)

    def test_first_save_takes_the_cache_along(self):
        bpy.ops.pliant.bake()
        old = folders.folder_of(self.scene)
        self.assertTrue(folders.is_temporary(old))
        path = self.save("a.blend")
        folder = self.place / "pliant_cache" / "a" / "Scene"
        self.check(folder)
        self.assertFalse(old.exists())
        bpy.ops.wm.open_mainfile(filepath=str(path))
        self.check(folder)

    def test_save_as_and_copy(self):
        self.save("a.blend")
        bpy.ops.pliant.bake()
        a = self.place / "pliant_cache" / "a" / "Scene"
        self.check(a)
        self.save("a.blend")
        second = self.save("other/b.blend")
        b = self.place / "other" / "pliant_cache" / "b" / "Scene"
        self.check(b)
        third = self.save("c.blend", copy=True)
        self.check(b)
        for path, folder in (
            (self.place / "a.blend", a),
            (second, b),
            (third, self.place / "pliant_cache" / "c" / "Scene"),
        ):
            bpy.ops.wm.open_mainfile(filepath=str(path))
            self.check(folder)

    def test_copies_are_apart(self):
        self.save("a.blend")
        bpy.ops.pliant.bake()
        self.save("b.blend")
        bpy.context.scene.objects["Suzanne"].pliant.material.frequency *= 4
        bpy.ops.pliant.bake()
        bpy.ops.wm.open_mainfile(filepath=str(self.place / "a.blend"))
        caches.Cache.open(self.place / "pliant_cache" / "a" / "Scene").check()
        with caches.Cache.open(self.place / "pliant_cache" / "a" / "Scene").open_store() as store:
            store.verify()

    def test_folder_beside_the_file(self):
        self.scene.pliant.folder = "//mine"
        self.save("a.blend")
        bpy.ops.pliant.bake()
        self.check(self.place / "mine")
        self.save("other/b.blend")
        self.check(self.place / "other" / "mine")

    def test_cache_that_cannot_be_copied_stays(self):
        self.save("a.blend")
        bpy.ops.pliant.bake()
        (self.place / "other").mkdir()
        (self.place / "other" / "pliant_cache").write_text("in the way")
        self.save("other/b.blend")
        modifier = modifiers.find_playback(bpy.context.scene.objects["Suzanne"])
        self.assertTrue(modifiers.plays_from(modifier, self.place / "pliant_cache" / "a" / "Scene"))

    def test_saved_elsewhere_during_a_bake(self):
        self.save("a.blend")
        self.scene.frame_end = 60
        run = self.run_until(5)
        self.save("other/b.blend")
        self.scene = bpy.context.scene
        self.to_the_end(run)
        folder = self.place / "other" / "pliant_cache" / "b" / "Scene"
        self.check(folder)
        self.assertEqual(folders.baked_range(bpy.context.scene), (1, 60))

    def test_unsaved_files_do_not_share(self):
        bpy.ops.pliant.bake()
        first = folders.folder_of(self.scene)
        scene = support.fresh()
        self.assertNotEqual(folders.folder_of(scene), first)
        self.assertIsNone(folders.baked_range(scene))


if __name__ == "__main__":
    unittest.main()
