# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of the user in and around a cache folder: none is deleted, followed, waited for or
overwritten."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import bake_scene
import numpy as np
from addon.bake import cache as caches
from addon.bake import copying, files, manifest, plan
from addon.bake.formats import mdd, pc2
from addon.bake.cache import Cache, CacheError
from addon.bake.errors import BakeError
from addon.bake.lock import Owner

STRANGERS = ("010-hero.abc", "03-cloth.pc2", "12-crowd.mdd", "0001-weights.npz")


class Folders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.original = Path(place.name) / "original"
        plan.make_job(cls.original, bake_scene.shot(end=4)).run()

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.folder = self.place / "cache"

    def copied(self):
        caches.copy(self.original, self.folder)
        return self.folder

    def contents(self, folder):
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class OtherPeoplesFiles(Folders):
    def make_strangers(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in STRANGERS:
            (folder / name).write_text("mine")

    def test_folder_without_a_bake_is_refused_and_stays(self):
        self.make_strangers(self.folder)
        before = self.contents(self.folder)
        for call in (
            lambda: plan.make_job(self.folder, bake_scene.shot(end=4)),
            lambda: Cache.create(self.folder, bake_scene.shot(end=4)),
            lambda: caches.clear(self.folder),
            lambda: caches.copy(self.original, self.folder),
        ):
            with self.assertRaisesRegex(BakeError, "not of a bake.*Cache Folder"):
                call()
            self.assertEqual(self.contents(self.folder), before)

    def test_files_beside_a_bake_stay(self):
        self.make_strangers(self.copied())
        plan.make_job(self.folder, bake_scene.shot(end=4)).run()
        caches.clear(self.folder)
        self.assertEqual(sorted(self.contents(self.folder)), sorted(STRANGERS))

    def test_new_file_never_takes_the_place_of_another(self):
        cache = Cache.open(self.copied())
        body = cache.bodies[0]
        cache.cells_path(body).write_text("mine")
        with self.assertRaisesRegex(BakeError, "not of this bake"):
            cache.write_cells(body, np.zeros((2, 3)))
        self.assertEqual(cache.cells_path(body).read_text(), "mine")

    def test_every_file_of_a_bake_is_listed(self):
        self.copied()
        found = {name for name in self.contents(self.folder) if not name.startswith("frames")}
        self.assertEqual(found - {manifest.NAME}, manifest.listed(self.folder) - {"frames/"})
        caches.clear(self.folder)
        self.assertFalse(self.folder.exists())

    def test_list_of_a_stranger_names_only_bakes_files(self):
        self.folder.mkdir()
        (self.folder / "notes.txt").write_text("mine")
        (self.place / "outside.pc2").write_text("mine")
        (self.folder / manifest.NAME).write_text(
            f"{manifest.HEAD}\nnotes.txt\n../outside.pc2\n/etc/hostname\n00-a.pc2\n"
        )
        caches.clear(self.folder)
        self.assertEqual((self.folder / "notes.txt").read_text(), "mine")
        self.assertEqual((self.place / "outside.pc2").read_text(), "mine")

    def test_listed_file_that_is_no_file_of_a_bake_stays(self):
        """By name and kind: the list may be a stranger's, the files in that folder the user's."""
        self.folder.mkdir()
        names = ["bake.json", "frames/", *(f"00-a.{kind}" for kind in ("pc2", "mdd", "abc", "npz"))]
        (self.folder / manifest.NAME).write_text("\n".join([manifest.HEAD, *names, ""]))
        (self.folder / "frames").mkdir()
        mine = [
            self.folder / name
            for name in (*names[2:], "bake.json", "00-a.abc.tmp", "frames/frame-000001.plf", "frames/journal.plj")
        ]
        for path in mine:
            path.write_text("mine, and longer than any header is")
        shot = bake_scene.shot(end=3)
        shot.bodies[0].name = "a"
        with self.assertRaisesRegex(BakeError, "not of this bake"):
            plan.make_job(self.folder, shot)
        caches.clear(self.folder)
        self.assertEqual([path for path in mine if not path.exists()], [])

    def test_torn_files_are_deleted(self):
        names = [f"00-a.{kind}" for kind in ("pc2", "mdd", "abc", "npz", "rest", "cells")]
        for size in (0, 3, 9, 40):
            manifest_text = "\n".join([manifest.HEAD, "bake.json", *names, ""])
            self.folder.mkdir()
            (self.folder / manifest.NAME).write_text(manifest_text)
            heads = {
                "pc2": pc2.MAGIC,
                "mdd": mdd.HEADER.pack(3, 90),
                "abc": b"Ogawa\xff",
                "npz": b"PK\3\4",
                "rest": b"\x12",
                "cells": b"\x12",
            }
            for name in names:
                (self.folder / name).write_bytes(heads[name[5:]].ljust(40, b"\x07")[:size])
            (self.folder / "00-a.pc2.tmp").write_bytes(bytes(size))
            caches.clear(self.folder)
            self.assertFalse(self.folder.exists(), size)

    def test_unreadable_file_is_an_error_and_not_a_strangers(self):
        self.copied()
        with mock.patch.object(files, "open_regular", side_effect=OSError(5, "broken")):
            self.assertRaises(OSError, manifest.is_of_its_kind, self.folder / "00-Cube.pc2")

    def test_beginning_of_a_list_is_deleted(self):
        self.folder.mkdir()
        for text in ("", "Plia", f"{manifest.HEAD}\nbake.json\n"):
            self.folder.mkdir(exist_ok=True)
            (self.folder / (manifest.NAME + ".tmp")).write_text(text)
            caches.clear(self.folder)
            self.assertFalse(self.folder.exists())

    def test_body_renamed_to_another_case_is_baked_again(self):
        """Where names differ by case alone, the former file has the new name: two names of one file."""
        self.copied()
        for kind in ("pc2", "rest"):
            os.link(self.folder / f"00-Cube.{kind}", self.folder / f"00-cube.{kind}")
        manifest.check_names(self.folder, ["00-cube.pc2", "00-cube.rest"])
        (self.folder / "00-CUBE.pc2").write_bytes((self.folder / "00-Cube.pc2").read_bytes())
        with self.assertRaisesRegex(BakeError, "00-CUBE.pc2 is not of this bake"):
            manifest.check_names(self.folder, ["00-CUBE.pc2"])

    def test_bake_of_an_earlier_version_is_read_and_cleared(self):
        (self.copied() / manifest.NAME).unlink()
        (self.folder / "07-other.pc2").write_text("mine")
        Cache.open(self.folder).check()
        caches.clear(self.folder)
        self.assertEqual(list(self.contents(self.folder)), ["07-other.pc2"])

    def test_full_disk_does_not_stop_clearing_an_earlier_version(self):
        (self.copied() / manifest.NAME).unlink()
        with mock.patch.object(files, "create", side_effect=OSError(28, "full")):
            caches.clear(self.folder)
        self.assertFalse(self.folder.exists())

    def test_name_that_is_taken_leaves_the_bake(self):
        """Of a body that the former bake did not have."""
        self.copied()
        (self.folder / "00-Ball.pc2").write_text("mine")
        before = self.contents(self.folder)
        shot = bake_scene.shot(end=4)
        shot.bodies[0].name = "Ball"
        with self.assertRaisesRegex(BakeError, "00-Ball.pc2 is not of this bake"):
            plan.make_job(self.folder, shot)
        self.assertEqual(self.contents(self.folder), before)

    def test_interrupted_clear_of_an_earlier_version_can_be_finished(self):
        (self.copied() / manifest.NAME).unlink()
        remove = files.remove

        def stops(path):
            if Path(path).name.endswith(".rest"):
                raise OSError(5, "stopped")
            remove(path)

        with mock.patch.object(files, "remove", stops):
            self.assertRaises(OSError, manifest.remove_files, self.folder)
        caches.clear(self.folder)
        self.assertFalse(self.folder.exists())


class Copies(Folders):
    def test_same_folder_in_another_spelling_is_left_alone(self):
        self.copied()
        link = self.place / "link"
        link.symlink_to(self.place, target_is_directory=True)
        before = self.contents(self.folder)
        self.assertFalse(caches.copy(self.folder, link / "cache"))
        self.assertEqual(self.contents(self.folder), before)

    def test_failed_copy_leaves_both(self):
        other = self.place / "other"
        plan.make_job(other, bake_scene.shot(end=3)).run()
        before, source = self.contents(other), self.contents(self.original)
        for name in ("_copy_file", "_digest"):
            with mock.patch.object(copying, name, side_effect=OSError(28, "full")):
                with self.assertRaisesRegex(BakeError, "disk is full"):
                    caches.copy(self.original, other)
            self.assertEqual(self.contents(other), before)
        with mock.patch.object(copying, "_digest", return_value=b""):
            with self.assertRaisesRegex(BakeError, "not what was written"):
                caches.copy(self.original, other)
        self.assertEqual(self.contents(other), before)
        self.assertEqual(self.contents(self.original), source)

    def test_replaces_the_bake_that_is_there(self):
        plan.make_job(self.folder, bake_scene.shot(end=3)).run()
        self.assertTrue(caches.copy(self.original, self.folder))
        cache = Cache.open(self.folder)
        cache.check()
        self.assertEqual(cache.end, 4)
        self.assertFalse((self.folder / manifest.INCOMING).exists())

    def test_into_a_folder_within_the_source(self):
        self.copied()
        caches.copy(self.folder, self.folder / "sub")
        Cache.open(self.folder / "sub").check()
        Cache.open(self.folder).check()

    def test_what_a_killed_copy_left_is_removed(self):
        self.copied()
        with mock.patch.object(copying, "remove_incoming"):  # as if killed before the switch
            copying.Copy(self.original, self.folder).close()
        self.assertTrue((self.folder / manifest.INCOMING / "bake.json").exists())
        with copying.Copy(self.original, self.folder):
            pass  # it begins anew
        self.assertFalse((self.folder / manifest.INCOMING).exists())
        with mock.patch.object(copying, "remove_incoming"):
            copying.Copy(self.original, self.folder).close()
        caches.clear(self.folder)
        self.assertFalse(self.folder.exists())

    def test_nothing_is_copied_through_links_or_over_files_in_the_target(self):
        outside = self.place / "outside"
        outside.mkdir()
        (outside / "00-Cube.pc2").write_text("mine")
        (self.folder).mkdir()
        for name in ("bake.incoming", "frames"):
            (self.folder / name).symlink_to(outside, target_is_directory=True)
            with self.assertRaisesRegex(BakeError, "is a link"):
                caches.copy(self.original, self.folder)
            (self.folder / name).unlink()
            self.assertEqual(self.contents(outside), {"00-Cube.pc2": b"mine"})
        (self.folder / "bake.incoming").mkdir()
        (self.folder / "bake.incoming" / "00-Cube.pc2").write_text("mine")
        with self.assertRaisesRegex(BakeError, "copy the cache"):
            caches.copy(self.original, self.folder)
        self.assertEqual(self.contents(self.folder), {"bake.incoming/00-Cube.pc2": b"mine"})

    def test_former_bake_stays_until_the_switch(self):
        plan.make_job(self.folder, bake_scene.shot(end=3)).run()
        before = self.contents(self.folder)
        made = copying.Copy(self.original, self.folder)
        Cache.open(self.folder).check()
        made.close()
        self.assertEqual(self.contents(self.folder), before)


def read_all(folder):
    """Everything that reads or goes on with a cache, in a process of its own."""
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
import bake_scene
from addon.bake import cache, lock, plan
from addon.bake.formats import mdd, pc2
from addon.bake.errors import BakeError
folder = Path({str(folder)!r})
def tried(call):
    try:
        call()
    except (BakeError, OSError) as error:
        print(type(error).__name__, error)
tried(lambda: cache.Cache.open(folder).check())
tried(lambda: cache.Cache.open(folder).cells(cache.Cache.open(folder).bodies[0]))
tried(lambda: lock.refuse(folder))
tried(lambda: mdd.check(folder / "00-Cube.mdd"))
tried(lambda: pc2.frames(folder / "00-Cube.pc2"))
def resume():
    job = plan.make_job(folder, bake_scene.shot(end=6), plan.RESUME)
    job.run()
    print(job.error)
tried(resume)
tried(lambda: cache.clear(folder))
"""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)


class HostileFiles(Folders):
    @unittest.skipUnless(hasattr(os, "mkfifo"), "no pipes here")
    def test_pipe_in_place_of_any_file_does_not_block(self):
        names = [
            "bake.json",
            "bake.files",
            "bake.lock",
            "00-Cube.rest",
            "00-Cube.pc2",
            "00-Cube.cells",
            "00-Cube.mdd",
            "frames/journal.plj",
            "frames/header.plh",
            "frames/frame-000004.plf",
        ]
        for name in names:
            with self.subTest(name=name):
                self.folder = self.place / name.replace("/", "-")
                path = self.copied() / name
                path.unlink(missing_ok=True)
                os.mkfifo(path)
                done = read_all(self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_resume_writes_through_no_link(self):
        outside = self.place / "outside"
        outside.write_text("mine")
        cache = Cache.open(self.copied())
        cache.write_cells(cache.bodies[0], np.zeros((2, 3)))
        for path in (cache.cells_path(cache.bodies[0]), self.folder / "00-Cube.pc2"):
            path.unlink()
            path.symlink_to(outside)
        cache.write_cells(cache.bodies[0], np.ones((2, 3)))
        self.assertEqual(outside.read_text(), "mine")
        with self.assertRaises(BakeError):
            pc2.Writer(self.folder / "00-Cube.pc2", 8, keep=True)
        pc2.Writer(self.folder / "00-Cube.pc2", 8).close()
        self.assertEqual(outside.read_text(), "mine")

    def test_links_are_named_in_a_sentence(self):
        path = self.copied() / "00-Cube.rest"
        path.unlink()
        path.symlink_to("/dev/zero")
        with self.assertRaisesRegex(CacheError, "symbolic link"):
            Cache.open(self.folder).check()
        self.assertRaises(OSError, files.open_regular, "/dev/zero")
        self.assertRaises(BakeError, mdd.check, path)
        self.assertIsNone(Owner.read(path))


if __name__ == "__main__":
    unittest.main()
