# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache folder: complete, damaged, foreign, read-only; clearing and copying."""

import json
import os
import tempfile
import unittest
from pathlib import Path

import bake_scene
import numpy as np
from addon.bake import cache as caches
from addon.bake import plan, transforms
from addon.bake.cache import Cache, CacheError
from addon.bake.errors import BakeError


class Caches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.original = Path(place.name) / "original"
        plan.make_job(cls.original, bake_scene.shot(end=8)).run()

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.folder = self.place / "cache"
        caches.copy(self.original, self.folder)

    def refused(self, *words, call=None):
        with self.assertRaises(CacheError) as caught:
            (call or Cache.open)(self.folder)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def edit(self, **changes):
        path = self.folder / "bake.json"
        data = json.loads(path.read_text())
        data.update(changes)
        path.write_text(json.dumps(data))

    def test_opens_what_was_made(self):
        shot = bake_scene.shot(end=8)
        cache = Cache.open(self.folder)
        self.assertEqual((cache.start, cache.end, cache.fps), (1, 8, 24.0))
        body = cache.body("Cube")
        self.assertIsNone(cache.body("Other"))
        np.testing.assert_array_equal(cache.rest(body), shot.bodies[0].vertices)
        for number in (1, 5, 8):
            np.testing.assert_array_equal(cache.matrix(body, number), shot.frames[number - 1].bodies[0].matrix)
        self.assertIsNone(cache.fingerprint.difference(caches.fingerprint(shot), 8))
        cache.check()

    def test_copies_fit_and_stand_alone(self):
        Cache.open(self.folder).check()
        caches.clear(self.folder)
        self.assertFalse(self.folder.exists())
        Cache.open(self.original).check()

    def test_baking_in_a_copy_leaves_the_original(self):
        before = {p: p.read_bytes() for p in self.original.rglob("*") if p.is_file()}
        shot = bake_scene.shot(end=8)
        for frame in shot.frames:
            frame.bodies[0].material["stiffness"] = 20.0
        for kind, from_frame in ((plan.REBAKE, 7), (plan.NEW, None)):
            job = plan.make_job(self.folder, shot, kind, from_frame)
            job.run()
            self.assertIsNone(job.error)
            self.assertEqual({p: p.read_bytes() for p in before}, before)
        with Cache.open(self.original).open_store() as store:
            store.verify()

    def test_nothing_there(self):
        caches.clear(self.folder)
        self.refused("Nothing is baked")

    def test_other_version(self):
        self.edit(format=99)
        self.refused("format 99", "bake again")

    def test_damaged_description(self):
        good = (self.folder / "bake.json").read_text()
        for text in ("", "{", "[]", "null", "{}", good[:200], '"x"', "[" * 100000):
            (self.folder / "bake.json").write_text(text)
            with self.subTest(text=text[:20]):
                self.refused()
        (self.folder / "bake.json").write_bytes(b"\xff\xfe\x00")
        self.refused("damaged")

    def test_strange_values(self):
        body = json.loads((self.folder / "bake.json").read_text())["bodies"][0]
        strange = [
            {"fps": float("nan")},
            {"fps": "24"},
            {"fps": 0},
            {"start": 1.5},
            {"start": True},
            {"end": 0},
            {"end": 1 << 40},
            {"origin": [0, 0]},
            {"origin": [0, 0, float("inf")]},
            {"bodies": []},
            {"bodies": {}},
            {"bodies": [body] * 5000},
            {"frames": []},
            {"parts": 3},
            {"inputs": [1]},
            {"scene": 5},
            {"bodies": [dict(body, vertices=-1)]},
            {"bodies": [dict(body, vertices=1 << 60)]},
            {"bodies": [dict(body, matrices=[[1] * 15])]},
            {"bodies": [dict(body, matrices=[])]},
            {"bodies": [dict(body, matrices=[["x"] * 16])]},
            {"bodies": [dict(body, name=None)]},
        ]
        good = (self.folder / "bake.json").read_text()
        for change in strange:
            (self.folder / "bake.json").write_text(good)
            self.edit(**change)
            with self.subTest(change=str(change)[:60]):
                self.refused("bake.json is damaged")

    def test_names_never_lead_out(self):
        for name in ("../../evil", "/etc/passwd", "a/b\\c", "..", "", "\0", "COM1", "x" * 300):
            made = caches.safe_name(3, name)
            self.assertRegex(made, r"^03-[A-Za-z0-9_-]{1,40}$")
        body = json.loads((self.folder / "bake.json").read_text())["bodies"][0]
        self.edit(bodies=[dict(body, name="../../evil")])
        cache = Cache.open(self.folder)
        self.assertEqual(cache.pc2_path(cache.bodies[0]).parent, self.folder)

    def test_missing_and_truncated_files(self):
        def checked(folder):
            Cache.open(folder).check()

        os.truncate(self.folder / "00-Cube.pc2", 300)
        self.refused("00-Cube.pc2", "cut off", call=checked)
        (self.folder / "00-Cube.pc2").unlink()
        self.refused("00-Cube.pc2", call=checked)
        caches.copy(self.original, self.folder)
        os.truncate(self.folder / "00-Cube.rest", 12)
        self.refused("00-Cube.rest", call=checked)
        caches.copy(self.original, self.folder)
        (self.folder / "frames" / "journal.plj").write_bytes(b"nonsense")
        self.refused("frames", call=checked)

    def test_truncated_frame_is_named_when_read(self):
        os.truncate(self.folder / "frames" / "frame-000004.plf", 20)
        with Cache.open(self.folder).open_store() as store:
            with self.assertRaisesRegex(Exception, "frame-000004"):
                store.read(0, 4, 0)
            store.read(0, 3, 0)

    def test_clear_takes_only_its_own(self):
        (self.folder / "notes.txt").write_text("mine")
        (self.folder / "frames" / "holiday.jpg").write_text("mine")
        (self.folder / "other.pc2").write_text("mine")
        outside = self.place / "outside.pc2"
        outside.write_text("mine")
        (self.folder / "01-link.pc2").symlink_to(outside)
        caches.clear(self.folder)
        self.assertEqual(
            sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file()),
            ["01-link.pc2", "frames/holiday.jpg", "notes.txt", "other.pc2"],
        )
        self.assertEqual(outside.read_text(), "mine")

    def test_writes_through_no_link(self):
        outside = self.place / "outside"
        outside.mkdir()
        (outside / "file").write_text("mine")
        for name in ("bake.json", "bake.json.tmp", "00-Cube.pc2", "00-Cube.rest"):
            (self.folder / name).unlink(missing_ok=True)
            (self.folder / name).symlink_to(outside / "file")
        Cache.create(self.folder, bake_scene.shot(end=8))
        self.assertEqual((outside / "file").read_text(), "mine")
        caches.clear(self.folder)
        self.folder.mkdir(exist_ok=True)
        (self.folder / "frames").symlink_to(outside)
        with self.assertRaisesRegex(BakeError, "not of a bake, such as 'frames'"):
            plan.make_job(self.folder, bake_scene.shot(end=8))
        self.assertEqual([p.name for p in outside.iterdir()], ["file"])

    def test_folders_that_cannot_be(self):
        (self.place / "file").write_text("")
        with self.assertRaisesRegex(CacheError, "file"):
            Cache.create(self.place / "file", bake_scene.shot(end=8))
        with self.assertRaisesRegex(CacheError, "below"):
            Cache.create(self.place / "file" / "below", bake_scene.shot(end=8))
        self.assertRaises(CacheError, Cache.create, "/proc/nothing/here", bake_scene.shot(end=8))

    def test_space_and_back(self):
        matrix = bake_scene.body_frame(7).matrix
        points = np.random.default_rng(1).normal(size=(100, 3)).astype(np.float32)
        origin = (1e5, -2e5, 64.0)
        matrix[:3, 3] += origin
        there = transforms.to_simulation(points, matrix, origin)
        back = transforms.mapped(there, transforms.to_object(matrix, origin))
        np.testing.assert_allclose(back, points, atol=2e-6)
        wanted = points @ matrix[:3, :3].T + (matrix[:3, 3] - origin)
        np.testing.assert_allclose(there, wanted, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
