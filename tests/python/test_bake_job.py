# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs: their output; stopping them in any way loses nothing and changes no bit."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import bake_scene
import numpy as np
from addon import solver
from addon.bake import cache as caches
from addon.bake import job as jobs
from addon.bake import plan, shot_scene, transforms
from addon.bake.formats import pc2
from addon.bake.errors import BakeError

HERE = Path(__file__).resolve().parent


def bits(folder):
    """What must be the same: point caches, and the frames' hashes as the store has them."""
    folder = Path(folder)
    found = {p.name: p.read_bytes() for p in sorted(folder.glob("*.pc2"))}
    found.update({p.name: p.read_bytes() for p in sorted((folder / "frames").glob("*.plf"))})
    return found


class Jobs(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def bake(self, name, shot=None, kind=plan.NEW, from_frame=None, ends=jobs.DONE):
        job = plan.make_job(self.place / name, shot or bake_scene.shot(), kind, from_frame)
        job.run()
        self.assertEqual((job.state, job.error), (ends, None))
        return job

    def bake_until(self, name, frame, shot=None):
        """Cancelled inside the frame after `frame`."""
        job = plan.make_job(self.place / name, shot or bake_scene.shot())
        bake_scene.run_until(job, frame + 1)
        self.assertEqual((job.state, job.frame), (jobs.CANCELLED, frame))
        return job

    def test_writes_every_frame_to_store_and_point_cache(self):
        job = self.bake("a")
        cache = job.cache
        self.assertEqual(cache.baked(), (1, 24))
        self.assertTrue(cache.is_complete())
        cache.check()
        body = cache.bodies[0]
        self.assertEqual(pc2.check(cache.pc2_path(body)).frames, 24)
        with cache.open_store() as store, store.skin(0, cache.rest(body), origin=cache.origin) as skin:
            for number in (1, 9, 24):
                world = skin.apply(number, origin=cache.origin).vertices
                local = transforms.mapped(world, transforms.to_object(cache.matrix(body, number), cache.origin))
                np.testing.assert_array_equal(pc2.read_row(cache.pc2_path(body), number - 1), local)
        self.assertEqual((job.frame, job.fraction), (24, 1.0))
        self.assertGreater(job.seconds_per_frame, 0)

    def test_first_row_is_the_mesh_and_it_falls(self):
        cache = self.bake("a").cache
        path = cache.pc2_path(cache.bodies[0])
        world = [
            transforms.to_simulation(pc2.read_row(path, n - 1), cache.matrix(cache.bodies[0], n), cache.origin)
            for n in (1, 12)
        ]
        np.testing.assert_allclose(world[0], bake_scene.CUBE, atol=1e-5)
        self.assertLess(world[1][:, 2].mean(), world[0][:, 2].mean() - 0.5)

    def test_cancel_and_resume_give_the_same_bits(self):
        whole = bits(self.bake("a").cache.folder)
        for frame in (1, 5, 6, 13, 23):
            name = f"b{frame}"
            self.bake_until(name, frame)
            self.assertEqual(caches.Cache.open(self.place / name).baked(), (1, frame))
            self.bake(name, kind=plan.RESUME)
            self.assertEqual(bits(self.place / name), whole, f"cancelled after frame {frame}")

    def test_pinned_bodies_resume_to_the_same_bits(self):
        def shot():
            made = bake_scene.shot()
            made.bodies[0].pins = (bake_scene.CUBE[:, 2] > 2).astype(np.float32)
            made.bodies[0].pin_exact, made.bodies[0].pin_frequency = True, 5.0
            for frame in made.frames[1:]:
                frame.bodies[0].pin_vertices = bake_scene.CUBE * np.float32(1 + 0.01 * frame.number)
                frame.bodies[0].pin_strength = 1.0 if frame.number < 15 else 0.5
            return made

        whole = bits(self.bake("a", shot()).cache.folder)
        self.bake_until("b", 13, shot())
        self.bake("b", shot(), kind=plan.RESUME)
        self.assertEqual(bits(self.place / "b"), whole)

    def test_resume_with_more_frames(self):
        whole = bits(self.bake("a").cache.folder)
        self.bake("b", bake_scene.shot(end=12))
        self.bake("b", kind=plan.RESUME)
        self.assertEqual(bits(self.place / "b"), whole)

    def test_resume_makes_lost_point_caches_again(self):
        whole = bits(self.bake("a").cache.folder)
        path = self.place / "b" / "00-Cube.pc2"
        for damage in (path.unlink, lambda: os.truncate(path, 500), lambda: path.write_bytes(b"rubbish")):
            self.bake_until("b", 13)
            damage()
            self.bake("b", kind=plan.RESUME)
            self.assertEqual(bits(self.place / "b"), whole)

    def test_kill_and_resume_give_the_same_bits(self):
        whole = bits(self.bake("a").cache.folder)
        script = (
            f"import sys; sys.path.insert(0, {str(HERE)!r}); import bake_scene\n"
            f"from addon.bake import plan\n"
            f"plan.make_job({str(self.place / 'b')!r}, bake_scene.shot()).run()"
        )
        for rows in (2, 11):
            process = subprocess.Popen([sys.executable, "-c", script])
            path, until = self.place / "b" / "00-Cube.pc2", time.monotonic() + 60
            try:
                while time.monotonic() < until and process.poll() is None:
                    try:
                        if pc2.check(path).frames >= rows:
                            break
                    except pc2.Pc2Error:
                        pass
            finally:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
            self.assertNotEqual(caches.Cache.open(self.place / "b").baked(), None)
            if caches.Cache.open(self.place / "b").is_complete():
                self.skipTest("it was faster than its killer")
            self.bake("b", kind=plan.RESUME)
            self.assertEqual(bits(self.place / "b"), whole)
            caches.clear(self.place / "b")

    def test_cancel_in_a_thread_answers(self):
        job = plan.make_job(self.place / "a", bake_scene.shot(end=2000))
        job.start()
        while job.frame is None or job.frame < 3:
            self.assertFalse(job.ended, job.error)
            time.sleep(0.005)
        begun = time.monotonic()
        job.cancel()
        self.assertTrue(job.wait(10))
        self.assertLess(time.monotonic() - begun, 2.0)
        self.assertEqual(job.state, jobs.CANCELLED)
        self.assertGreaterEqual(job.cache.baked()[1], 3)

    def test_cancel_while_bodies_are_made(self):
        shot = bake_scene.shot()
        shot.bodies[0].settings = {"sample": {"count": 20000}}
        job = plan.make_job(self.place / "a", shot)
        threading.Timer(0.05, job.cancel).start()
        job.run()
        self.assertEqual(job.state, jobs.CANCELLED)
        job.cancel()  # late: nothing happens

    def test_rebake_takes_the_new_settings_from_the_checkpoint_on(self):
        self.bake("a")
        old = bits(self.place / "a")
        shot = bake_scene.shot()
        for frame in shot.frames:
            frame.bodies[0].material["stiffness"] = 30.0
        job = self.bake("a", shot, plan.REBAKE, from_frame=13)
        new = bits(self.place / "a")
        self.assertEqual(job.cache.baked(), (1, 24))
        rows = {name: [pc2.HEADER.size + n * 96 for n in (0, 11)] for name in ("00-Cube.pc2",)}
        for name, (first, last) in rows.items():
            self.assertEqual(old[name][first:last], new[name][first:last])
        self.assertEqual(old["frame-000011.plf"], new["frame-000011.plf"])
        self.assertNotEqual(old["frame-000013.plf"], new["frame-000013.plf"])
        # and that is now what Resume compares with
        shot.end = 26
        shot.frames += [bake_scene.frame(25), bake_scene.frame(26)]
        self.bake("a", shot, plan.RESUME)

    def test_refuses_to_go_on_with_something_else(self):
        self.bake_until("a", 13)

        def refused(change, sentence, kind=plan.RESUME, from_frame=None):
            shot = bake_scene.shot()
            change(shot)
            before = bits(self.place / "a")
            with self.assertRaises(BakeError) as caught:
                plan.make_job(self.place / "a", shot, kind, from_frame)
            self.assertIn(sentence, str(caught.exception))
            self.assertEqual(bits(self.place / "a"), before)

        def stiffer(shot):
            shot.frames[4].bodies[0].material["stiffness"] = 9.0

        def moved(shot):
            shot.frames[7].colliders[0].position = (0.0, 0.0, 9.0)

        def other_mesh(shot):
            shot.bodies[0].vertices[0] += 0.1

        def finer(shot):
            shot.bodies[0].settings = {"sample": {"count": 400}}

        refused(stiffer, "the material of 'Cube' at frame 5")
        refused(moved, "the collider 'Floor' at frame 8")
        refused(other_mesh, "the mesh of 'Cube'")
        refused(finer, "the particles, clusters or start of 'Cube'")
        refused(finer, "the particles", plan.REBAKE, 9)
        refused(lambda shot: None, "Frame 20 is not baked", plan.REBAKE, 20)
        refused(lambda shot: shot.fields.clear(), "the list of force fields")
        later = bake_scene.shot()
        later.frames[20].bodies[0].material["stiffness"] = 9.0
        self.bake("a", later, plan.RESUME)  # what is not baked yet may change
        with self.assertRaises(BakeError) as caught:
            plan.make_job(self.place / "a", later, plan.RESUME)
        self.assertIn("All frames up to 24 are baked", str(caught.exception))

    def test_pins_hold_and_following_ends(self):
        shot = bake_scene.shot(end=12)
        body = shot.bodies[0]
        body.pins = (bake_scene.CUBE[:, 2] > 2).astype(np.float32)
        body.pin_exact, body.pin_frequency = True, 5.0
        lifted = bake_scene.CUBE + np.float32((0, 0, 0.5))
        for frame in shot.frames[1:]:
            frame.bodies[0].pin_vertices = lifted
        cache = self.bake("a", shot).cache
        top = transforms.to_simulation(
            pc2.read_row(cache.pc2_path(cache.bodies[0]), 11), cache.matrix(cache.bodies[0], 12), cache.origin
        )[[1, 3, 5, 7]]
        np.testing.assert_allclose(top, lifted[[1, 3, 5, 7]], atol=0.15)

        shot = bake_scene.shot(end=12)
        shot.bodies[0].follow_until = 6
        for frame in shot.frames[1:6]:
            frame.bodies[0].pin_vertices = bake_scene.CUBE + np.float32((0.5 * (frame.number - 1), 0, 0))
        cache = self.bake("b", shot).cache
        mean = [
            transforms.to_simulation(
                pc2.read_row(cache.pc2_path(cache.bodies[0]), n - 1), cache.matrix(cache.bodies[0], n), cache.origin
            ).mean(axis=0)
            for n in (6, 12)
        ]
        np.testing.assert_allclose(mean[0], (2.5, 0, 2), atol=0.01)
        self.assertGreater(mean[1][0], 4.5)  # flies on
        self.assertLess(mean[1][2], 1.9)  # and falls

    def test_pins_let_go_with_their_strength(self):
        body = bake_scene.shot().bodies[0]
        body.pin_exact, body.pin_frequency = True, 8.0
        weights = np.array((0, 0.5, 1), np.float32)
        self.assertEqual(shot_scene.pin_frequencies(body, weights, 1.0).tolist(), [0, 4, solver.PIN_HELD])
        self.assertEqual(shot_scene.pin_frequencies(body, weights, 0.5).tolist(), [0, 2, 4])
        self.assertEqual(shot_scene.pin_frequencies(body, weights, 0.0).tolist(), [0, 0, 0])

    def test_full_disk_is_a_sentence_and_keeps_frames(self):
        whole = bits(self.bake("whole").cache.folder)
        write = pc2.Writer._write
        for rows in (0, 9, 22):

            def full(writer, data):
                if writer.frames == rows and len(data) > 4:  # no more rows, but for the count
                    raise OSError(28, "No space left on device")
                write(writer, data)

            job = plan.make_job(self.place / f"a{rows}", bake_scene.shot())
            with mock.patch.object(pc2.Writer, "_write", full):
                job.run()
            self.assertEqual(job.state, jobs.FAILED)
            self.assertIn("00-Cube.pc2: the disk is full", job.error)
            self.assertEqual(job.frame, rows or None)
            if rows:
                self.assertEqual(job.cache.baked(), (1, rows + 1))
                self.bake(f"a{rows}", kind=plan.RESUME)
                self.assertEqual(bits(self.place / f"a{rows}"), whole)

    def test_full_disk_in_the_last_frame_or_while_stopping_is_told(self):
        shot = bake_scene.shot(end=8)
        for number, stops in ((8, False), (6, True)):
            job = plan.make_job(self.place / f"a{number}", shot)
            write = pc2.Writer.write

            def full(writer, row, positions):
                if row == number - 1:
                    if stops:
                        job.cancel()
                    raise pc2.Pc2Error("Cannot write: the disk is full.")
                write(writer, row, positions)

            with mock.patch.object(pc2.Writer, "write", full):
                job.run()
            self.assertEqual((job.state, job.error), (jobs.FAILED, "Cannot write: the disk is full."))
            self.assertEqual(job.frame, number - 1)

    def test_rows_are_written_beside_the_next_frame_and_no_further(self):
        job = plan.make_job(self.place / "a", bake_scene.shot(end=12))
        write, advance = pc2.Writer.write, jobs.Recorder.advance
        simulating = {number: threading.Event() for number in range(2, 14)}
        simulating[13].set()
        threads, seen = set(), []

        def advancing(recorder, frame):
            simulating[frame.number].set()
            advance(recorder, frame)

        def slow(writer, row, positions):
            number = row + 1
            if row > 0 and not simulating[number + 1].wait(10):
                raise AssertionError(f"frame {number + 1} waits for the row of frame {number}")
            threads.add(threading.current_thread())
            write(writer, row, positions)
            seen.append((number, job.cache.baked()[1], job.frame))

        with mock.patch.object(pc2.Writer, "write", slow), mock.patch.object(jobs.Recorder, "advance", advancing):
            job.run()
        self.assertIsNone(job.error)
        # one after the other; the store has the frame whose row is written, and not the next
        self.assertEqual(seen, [(n, n, n - 1 if n > 1 else None) for n in range(1, 13)])
        self.assertEqual(len(threads), 1)
        self.assertNotIn(threading.current_thread(), threads)
        self.assertFalse(any(thread.is_alive() for thread in threads))

    def test_a_bake_that_died_early_begins_anew(self):
        whole = bits(self.bake("whole").cache.folder)

        def first_record_only(folder):
            journal = folder / "frames" / "journal.plj"
            journal.write_bytes(journal.read_bytes()[: caches.FIRST_RECORD])

        def cut(size):
            def torn(folder):
                (folder / "frames" / "journal.plj").write_bytes((folder / "frames" / "journal.plj").read_bytes()[:size])

            return torn

        def no_header(folder):
            cut(24)(folder)
            (folder / "frames" / "header.plh").unlink()

        def no_journal(folder):
            (folder / "frames" / "journal.plj").unlink()

        damages = (first_record_only, cut(caches.FIRST_RECORD - 1), cut(24), cut(23), cut(0), no_header, no_journal)
        for number, damage in enumerate(damages):
            with self.subTest(number):
                job = self.bake_until(f"a{number}", 2)
                damage(job.cache.folder)
                self.bake(f"a{number}", kind=plan.RESUME)
                self.assertEqual(bits(job.cache.folder), whole)

    def test_frames_without_a_checkpoint_are_kept_and_compared(self):
        whole = bits(self.bake("whole").cache.folder)
        for kind, from_frame in ((plan.RESUME, None), (plan.REBAKE, 9)):
            folder = self.bake_until(f"a{from_frame}", 13).cache.folder
            for path in (folder / "frames").glob("*.plc"):
                path.write_bytes(b"torn")
            known = (folder / "frames" / "frame-000013.plf").stat().st_mtime_ns
            self.bake(folder.name, kind=kind, from_frame=from_frame)
            self.assertEqual(bits(folder), whole)
            now = (folder / "frames" / "frame-000013.plf").stat().st_mtime_ns
            self.assertEqual(now == known, kind == plan.RESUME)

    def test_rows_that_are_missing_are_made_from_the_store(self):
        job = self.bake("a")
        whole, path = bits(job.cache.folder), job.cache.pc2_path(job.cache.bodies[0])
        self.assertTrue(plan.is_finished(caches.Cache.open(job.cache.folder), bake_scene.shot()))
        for rows in (23, 7, 0, None):
            if rows is None:
                path.unlink()
            else:
                with pc2.Writer(path, 8, keep=True) as writer:
                    writer.truncate(rows)
            self.assertFalse(plan.is_finished(caches.Cache.open(job.cache.folder), bake_scene.shot()))
            with mock.patch.object(jobs.Recorder, "advance", side_effect=AssertionError):
                self.bake("a", kind=plan.RESUME)
            self.assertEqual(bits(job.cache.folder), whole)
        with self.assertRaisesRegex(BakeError, "All frames up to 24 are baked"):
            plan.make_job(job.cache.folder, bake_scene.shot(), plan.RESUME)

    def test_a_fault_is_a_sentence(self):
        shot = bake_scene.shot()
        shot.bodies[0].settings = {"sample": {"what": 1}}
        job = plan.make_job(self.place / "a", shot)
        job.run()
        self.assertEqual(job.state, jobs.FAILED)
        self.assertIn("what", job.error)


if __name__ == "__main__":
    unittest.main()
