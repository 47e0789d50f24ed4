# SPDX-License-Identifier: GPL-3.0-or-later
"""Exclusive access to a cache folder: who gets it, refusals, and stale locks."""

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import bake_scene
from addon.bake import cache as caches
from addon.bake import job as jobs
from addon.bake import advisory_lock, lock, manifest, output, plan
from addon.bake.formats import pc2
from addon.bake.errors import BakeError
from addon.bake.lock import Lock, LockedError

HERE = Path(__file__).resolve().parent
# where a process of this machine says that it is
HERE_NOW = {"host": socket.gethostname(), "boot": lock.boot_id(), "namespace": lock.pid_namespace()}
# Takes the lock, says so, and waits for the end of its input.
HOLDER = """
import sys; sys.path.insert(0, sys.argv[1]); import support
from addon.bake import lock
print("ready", flush=True); sys.stdin.readline()
try:
    held = lock.Lock(sys.argv[2])
    print("taken", flush=True)
except lock.LockedError as error:
    print("refused", error, flush=True)
sys.stdin.readline()
"""

# Bakes without the system's locks, stops itself when frame 4 is simulated, and says how it ended.
SLEEPER = """
import os, signal, sys; sys.path.insert(0, sys.argv[1]); import bake_scene
from addon import solver
from addon.bake import advisory_lock, job as jobs, plan
advisory_lock.enabled = False
job = plan.make_job(sys.argv[2], bake_scene.shot(end=200))
owner, name = (jobs.Recorder, "_write") if sys.argv[3] == "before" else (solver.Store, "write_frame")
write = getattr(owner, name)
def sleeping(it, *arguments):
    if job._simulated == 3:
        print("frame 4", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
    return write(it, *arguments)
setattr(owner, name, sleeping)
job.run()
print(job.error, flush=True)
"""


@contextlib.contextmanager
def elsewhere():
    """What another machine sees, where the file system has no locks."""
    with (
        mock.patch.object(lock, "boot_id", return_value="another"),
        mock.patch.object(socket, "gethostname", return_value="farm-9"),
        mock.patch.object(advisory_lock, "enabled", False),
    ):
        yield


class Folder(unittest.TestCase):
    """A cache folder, and what others may do to it."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name) / "cache"
        self.folder.mkdir()
        self.path = self.folder / lock.NAME

    def write(self, silence=0.0, **changes):
        """A lock of somebody's, not touched for some seconds."""
        owner = {"host": "farm-7", "pid": 4321, "since": "today", "token": "a", **changes}
        self.path.write_text(json.dumps(owner))
        self.age(self.path, silence)

    def age(self, path, seconds):
        then = time.time() - seconds
        os.utime(path, (then, then))

    def holder(self, takes=True, wrap=()):
        process = subprocess.Popen(
            [*wrap, sys.executable, "-c", HOLDER, HERE, self.folder],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        if takes:
            self.go(process)
            self.assertEqual(process.stdout.readline(), "taken\n")
        return process

    def go(self, process):
        process.stdin.write("\n")
        process.stdin.flush()

    def refused(self, *words):
        before, names = self.path.read_bytes(), os.listdir(self.folder)
        with self.assertRaises(LockedError) as caught:
            Lock(self.folder)
        for word in (str(self.folder), *words):
            self.assertIn(word, str(caught.exception))
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))
        self.assertRaises(LockedError, lock.refuse, self.folder)

    def taken(self):
        lock.refuse(self.folder)  # nobody in the way
        held = Lock(self.folder)
        self.assertEqual(os.listdir(self.folder), [lock.NAME])
        self.assertEqual(json.loads(self.path.read_text())["pid"], os.getpid())
        held.release()
        self.assertEqual(os.listdir(self.folder), [])

    def until(self, condition):
        until = time.monotonic() + 10
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.005)


class Locks(Folder):
    def test_taken_and_released(self):
        self.taken()
        held = Lock(self.folder)
        self.refused("by this very program")
        held.release()
        held.release()
        self.taken()

    def test_one_that_nobody_has_any_more_is_released(self):
        held = Lock(self.folder)
        del held
        self.taken()

    def test_another_process_is_named_until_it_is_gone(self):
        process = self.holder()
        self.refused(f"process {process.pid} on this machine")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        self.assertTrue(self.path.exists())
        self.taken()

    def test_of_many_who_find_one_left_behind_one_gets_it(self):
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        self.write(**HERE_NOW, pid=gone.pid)
        many = [self.holder(takes=False) for _ in range(6)]
        for process in many:
            self.go(process)
        said = [process.stdout.readline().split()[0] for process in many]
        self.assertEqual(sorted(said), ["refused"] * 5 + ["taken"])
        winner = many[said.index("taken")]
        self.assertEqual(json.loads(self.path.read_text())["pid"], winner.pid)
        for process in many:
            self.go(process)
            process.wait()
        self.assertEqual(os.listdir(self.folder), [])

    def test_another_machine_is_believed_for_a_while(self):
        self.write()
        self.refused("process 4321 on farm-7, since today")
        self.write(silence=lock.ABANDONED - 10)
        self.refused("farm-7")
        for silence in (lock.ABANDONED + 10, -lock.ABANDONED - 10):
            self.write(silence)
            self.taken()

    def test_a_number_that_another_process_has_now(self):
        self.write(**HERE_NOW, pid=os.getpid())
        self.taken()
        self.write(**HERE_NOW, pid=os.getppid())
        self.refused(f"process {os.getppid()} on this machine")
        self.write(**HERE_NOW, pid=os.getppid(), started="1")  # another process had that number
        self.taken()
        self.write(lock.ABANDONED + 10, **HERE_NOW, pid=os.getppid())
        self.taken()

    def test_a_number_of_another_namespace_tells_nothing(self):
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        self.write(**{**HERE_NOW, "namespace": "pid:[1]"}, pid=gone.pid)
        self.refused(f"process {gone.pid} in a container ({socket.gethostname()}) on this machine")
        self.write(**{**HERE_NOW, "boot": "another"}, pid=gone.pid)
        self.refused(socket.gethostname())

    @unittest.skipUnless(advisory_lock.enabled, "no flock")
    def test_a_stopped_owner_keeps_its_lock(self):
        process = self.holder()
        os.kill(process.pid, signal.SIGSTOP)
        self.age(self.path, lock.ABANDONED + 10)
        self.refused(f"process {process.pid} on this machine")
        os.kill(process.pid, signal.SIGCONT)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        self.taken()

    @unittest.skipUnless(advisory_lock.enabled, "no flock")
    def test_an_owner_in_another_pid_namespace_keeps_its_lock_and_frees_it_when_killed(self):
        wrap = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        try:
            if subprocess.run([*wrap, "true"], capture_output=True).returncode:
                self.skipTest("unshare --pid is not permitted here")
        except FileNotFoundError:
            self.skipTest("there is no unshare")
        process = self.holder(wrap=wrap)
        self.assertNotEqual(json.loads(self.path.read_text())["namespace"], lock.pid_namespace())
        self.refused("on this machine")
        self.age(self.path, lock.ABANDONED + 10)
        self.refused("on this machine")
        process.kill()
        process.wait()
        self.age(self.path, 0)

        def gone():
            try:
                lock.refuse(self.folder)
            except LockedError:
                return False
            return True

        self.until(gone)
        self.taken()

    def test_file_systems_whose_locks_do_not_hold_have_the_lease(self):
        with mock.patch.object(advisory_lock, "_flock", return_value=True):  # grants everything
            held = Lock(self.folder)
            self.assertFalse(held.owner.flock)
            self.refused("by this very program")
            held.release()

    def test_without_locks_of_the_system_a_sleeper_is_robbed_and_knows_it(self):
        with mock.patch.object(advisory_lock, "enabled", False):
            held = Lock(self.folder)
            self.assertFalse(held.owner.flock)
            held.check()
            self.age(self.path, lock.ABANDONED + 10)
            self.refused("by this very program")
            with elsewhere():
                other = Lock(self.folder)
            self.assertEqual((held.owner.generation, other.owner.generation), (1, 2))
            with self.assertRaisesRegex(LockedError, "is not this bake's any more"):
                held.check()
            other.check()
            held.release()
            self.assertTrue(self.path.exists())
            other.release()
            self.taken()

    def test_a_fifo_is_not_waited_for(self):
        os.mkfifo(self.path)
        self.assertRaises(LockedError, Lock, self.folder)
        self.age(self.path, lock.ABANDONED + 10)
        self.taken()

    def test_what_a_stranger_may_have_left(self):
        for rubbish in (
            b"",
            b"rubbish",
            b"[]",
            b"[" * 3000,
            b'{"pid": 1}',
            b"\xff" * 5000,
            json.dumps({"host": "a\nb", "pid": 1, "since": "", "token": ""}).encode(),
            json.dumps({"host": "a", "pid": -1, "since": "", "token": ""}).encode(),
        ):
            self.path.write_bytes(rubbish)
            self.refused("by another program")
            self.age(self.path, lock.ABANDONED + 10)
            self.taken()

    def test_links_are_not_followed(self):
        outside = self.folder.parent / "outside"
        for name in (lock.NAME, lock.NAME + ".tmp"):
            outside.write_text("precious")
            self.age(outside, 1000)
            link = self.folder / name
            link.symlink_to(outside)
            os.utime(link, (1, 1), follow_symlinks=False)
            self.taken()
            self.assertEqual(outside.read_text(), "precious")

    def test_one_who_was_killed_while_looking(self):
        waiting = self.folder / (lock.NAME + ".tmp")
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        for answer in (None, False):  # no locks on this disk; no locks on this system
            waiting.write_text(json.dumps({**HERE_NOW, "pid": gone.pid, "since": "", "token": "a"}))
            with (
                mock.patch.object(advisory_lock, "enabled", answer is None),
                mock.patch.object(advisory_lock, "_flock", return_value=None),
            ):
                self.taken()
        for enabled in {False, advisory_lock.enabled}:
            waiting.touch()
            with mock.patch.object(advisory_lock, "enabled", enabled):
                if not enabled:  # nothing tells but its age
                    with mock.patch.object(lock, "PATIENCE", 0.1), self.assertRaises(LockedError):
                        Lock(self.folder)
                    self.assertTrue(waiting.exists())
                    self.age(waiting, lock.ABANDONED + 10)
                self.taken()

    def test_folders_that_cannot_be_written_to(self):
        with self.assertRaisesRegex(BakeError, "Cannot write to the cache folder .*not exist"):
            Lock(self.folder / "none")
        full = mock.patch.object(json, "dumps", side_effect=OSError(28, "full"))
        with full, self.assertRaisesRegex(BakeError, "the disk is full"):
            Lock(self.folder)
        self.assertEqual(os.listdir(self.folder), [])

    def test_signs_of_life(self):
        with mock.patch.object(lock, "BEAT", 0.01):
            held = Lock(self.folder)
            with held.kept():
                self.age(self.path, 1000)
                self.until(lambda: time.time() - self.path.stat().st_mtime < 100)
                held.check()
            self.assertEqual(os.listdir(self.folder), [])
            for taken_away in (lambda: self.write(host="farm-8"), self.path.unlink):
                held = Lock(self.folder)
                with held.kept():
                    taken_away()
                    self.until(lambda: held.lost)
                    with self.assertRaisesRegex(LockedError, "is not this bake's any more"):
                        held.check()
                if self.path.exists():  # another's lock stays
                    self.assertEqual(json.loads(self.path.read_text())["host"], "farm-8")
                    self.path.unlink()

    def test_processes(self):
        self.assertTrue(lock.is_alive(os.getpid()))
        self.assertTrue(lock.is_alive(1))
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        self.assertFalse(lock.is_alive(process.pid))

    def test_processes_on_windows(self):
        """As the system there is documented to answer: nothing is ended by asking."""

        def answers(process, error, code=0, known=1):
            kernel = mock.Mock()
            kernel.OpenProcess.return_value = process

            def exit_code(_process, place):
                ctypes.cast(place, ctypes.POINTER(ctypes.c_ulong))[0] = code
                return known

            kernel.GetExitCodeProcess.side_effect = exit_code
            alive = lock._is_alive_on_windows(77, kernel, lambda: error)
            kernel.OpenProcess.assert_called_once_with(0x1000, False, 77)
            self.assertEqual(kernel.CloseHandle.called, bool(process))
            return alive

        self.assertTrue(answers(5, 0, code=259))
        self.assertFalse(answers(5, 0, code=1))
        self.assertTrue(answers(5, 0, known=0))
        self.assertFalse(answers(None, 87))  # no such process
        self.assertTrue(answers(None, 5))  # not to be looked at


class Bakes(Folder):
    def files(self):
        return {str(p): p.read_bytes() for p in sorted(self.folder.rglob("*")) if p.is_file()}

    def bake(self, kind=plan.NEW, end=8, from_frame=None):
        job = plan.make_job(self.folder, bake_scene.shot(end=end), kind, from_frame)
        self.assertTrue(self.path.exists())
        job.run()
        self.assertFalse(self.path.exists())
        return job

    def test_a_bake_has_its_folder_to_itself_and_touches_none_of_anothers(self):
        self.assertIsNone(self.bake().error)
        self.write()
        before = self.files()
        for arguments in ((plan.NEW, None), (plan.RESUME, None), (plan.REBAKE, 3)):
            with self.assertRaisesRegex(LockedError, "farm-7"):
                plan.make_job(self.folder, bake_scene.shot(end=12), *arguments)
        self.assertRaises(LockedError, caches.clear, self.folder)
        copied = self.folder.parent / "copied"
        caches.copy(self.folder, copied)  # reading is free
        self.assertFalse((copied / lock.NAME).exists())
        self.assertRaises(LockedError, caches.copy, copied, self.folder)
        self.assertEqual(self.files(), before)
        self.path.unlink()
        self.assertIsNone(self.bake(plan.RESUME, end=12).error)
        caches.clear(self.folder)
        self.assertFalse(self.folder.exists())

    def test_released_however_it_ends(self):
        with mock.patch.object(pc2.Writer, "write", side_effect=OSError(28, "full")):
            self.assertEqual(self.bake().state, jobs.FAILED)
        job = plan.make_job(self.folder, bake_scene.shot(end=8))
        job.cancel()
        job.run()
        self.assertEqual(job.state, jobs.CANCELLED)
        self.assertFalse(self.path.exists())
        self.bake()
        with self.assertRaises(BakeError):  # nothing to go on with
            plan.make_job(self.folder, bake_scene.shot(end=8), plan.RESUME)
        self.assertFalse(self.path.exists())
        plan.make_job(self.folder, bake_scene.shot(end=8))  # and never started
        self.assertFalse(self.path.exists())

    def test_stops_when_another_has_taken_over(self):
        job = plan.make_job(self.folder, bake_scene.shot(end=200))
        advance = jobs.Recorder.advance

        def watched(recorder, frame):
            if frame.number == 4:
                recorder.point_caches.rows.wait()
                self.write(host="farm-8")
                self.until(lambda: job.lock.lost)
            advance(recorder, frame)

        with mock.patch.object(lock, "BEAT", 0.01), mock.patch.object(jobs.Recorder, "advance", watched):
            job.run()
        self.assertEqual((job.state, job.frame), (jobs.FAILED, 3))
        self.assertEqual(job.cache.baked(), (1, 3))  # nothing is written after that
        self.assertIn("is not this bake's any more", job.error)
        self.assertIn("farm-8", self.path.read_text())

    def test_a_sleeper_that_only_had_a_lease_writes_nothing_when_it_wakes(self):
        """Stopped by SIGSTOP in the middle of a bake while another takes the folder over; also right
        after it has looked at the lock, when the store's own check is left."""
        for moment in ("before", "after"):
            with self.subTest(moment=moment):
                self.sleeps(moment)
                caches.clear(self.folder)
                self.folder.mkdir()

    def sleeps(self, moment):
        process = subprocess.Popen(
            [sys.executable, "-c", SLEEPER, HERE, self.folder, moment], text=True, stdout=subprocess.PIPE
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "frame 4\n")
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        self.age(self.path, lock.ABANDONED + 10)
        with mock.patch.object(advisory_lock, "enabled", False):  # its process is seen here
            self.refused(f"process {process.pid} on this machine")
        with elsewhere():
            job = plan.make_job(self.folder, bake_scene.shot(end=8))
            job.run()
            self.assertIsNone(job.error)
        before = self.files()
        os.kill(process.pid, signal.SIGCONT)
        self.assertIn("is not this bake's any more", process.stdout.read())
        self.assertEqual(self.files(), before)

    def test_results_are_written_by_the_only_writer(self):
        cache = self.bake().cache
        path = output.Output(cache, cache.bodies[0]).path("mdd")
        self.write()
        before = self.files()
        with self.assertRaisesRegex(LockedError, "farm-7"), manifest.replaced(path):
            self.fail("another is writing")
        self.assertEqual(self.files(), before)
        self.path.unlink()
        with self.assertRaisesRegex(LockedError, "any more"):
            with manifest.replaced(path) as unfinished, manifest.replaced(cache.folder / "00-Cube.abc"):
                Path(unfinished).write_text("late")
                self.write()
        self.path.unlink()
        self.assertFalse(path.exists())
        output.Output(cache, cache.bodies[0]).write_mdd(path)
        self.assertTrue(path.exists())
        self.assertFalse(self.path.exists())

    def test_a_late_writer_replaces_no_description(self):
        job = plan.make_job(self.folder, bake_scene.shot(end=8))
        before = (self.folder / caches.INFO_NAME).read_bytes()
        self.write()
        with self.assertRaisesRegex(LockedError, "any more"):
            job.cache.adopt(bake_scene.shot(end=12))
        self.assertEqual((self.folder / caches.INFO_NAME).read_bytes(), before)

    def test_a_full_disk_does_not_stop_clearing_but_another_writer_does(self):
        self.bake()
        full = mock.patch.object(json, "dumps", side_effect=OSError(28, "full"))
        self.write()
        with full:
            self.assertRaises(LockedError, caches.clear, self.folder)
            self.path.unlink()
            caches.clear(self.folder)
        self.assertFalse(self.folder.exists())


if __name__ == "__main__":
    unittest.main()
