# SPDX-License-Identifier: GPL-3.0-or-later
"""MDD files: reading returns what was written, and an existing file survives a failure."""

import struct
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support  # noqa: F401 - makes bake importable

import numpy as np
from bake.formats import mdd
from bake.errors import BakeError


class MDD(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "a.mdd"
        self.data = np.random.default_rng(1).normal(size=(3, 7, 3)).astype(np.float32)
        self.times = np.array([0, 1 / 24, 2 / 24], np.float32)

    def refused(self, sentence, call, *arguments):
        with self.assertRaises(BakeError) as caught:
            call(*arguments)
        self.assertIn(sentence, str(caught.exception))

    def test_bytes_are_those_of_the_format(self):
        mdd.write(self.path, 7, self.times, self.data)
        self.assertEqual(
            self.path.read_bytes(),
            struct.pack(">ii", 3, 7) + self.times.astype(">f4").tobytes() + self.data.astype(">f4").tobytes(),
        )

    def test_what_is_written_is_read(self):
        mdd.write(self.path, 7, self.times, iter(self.data))
        header = mdd.check(self.path, 7, 3)
        self.assertEqual((header.frames, header.vertices), (3, 7))
        np.testing.assert_array_equal(header.times, self.times)
        np.testing.assert_array_equal(mdd.frames(self.path), self.data)

    def test_a_failure_leaves_the_file_before(self):
        mdd.write(self.path, 7, self.times, self.data)
        before = self.path.read_bytes()
        self.refused("to have 3 frames, but 2 came", mdd.write, self.path, 7, self.times, self.data[:2])
        self.refused("a frame of shape (6, 3)", mdd.write, self.path, 7, self.times, self.data[:, :6])
        with mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")):
            self.refused("the disk is full", mdd.write, self.path, 7, self.times, self.data)

        def stopped():
            yield self.data[0]
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            mdd.write(self.path, 7, self.times, stopped())
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual([p.name for p in self.path.parent.iterdir()], ["a.mdd"])

    def test_damaged_and_foreign_files_are_named(self):
        mdd.write(self.path, 7, self.times, self.data)
        self.refused("for 7 vertices, but the mesh has 8", mdd.check, self.path, 8)
        self.refused("has 3 frames, but 4 are needed", mdd.check, self.path, 7, 4)
        whole = self.path.read_bytes()
        for data, sentence in (
            (whole[:-1], "cut off: 2 of its 3 frames"),
            (whole[:6], "ends within"),
            (whole[:10], "not an MDD"),
            (b"\xff" + whole[1:], "not an MDD"),
            (b"POINTCACHE2\0", "not an MDD"),
        ):
            self.path.write_bytes(data)
            self.refused(sentence, mdd.check, self.path)

    def test_missing_folders_are_named(self):
        self.refused("it does not exist", mdd.write, self.path.parent / "none" / "a.mdd", 7, self.times, self.data)
        self.refused("it does not exist", mdd.check, self.path)


if __name__ == "__main__":
    unittest.main()
