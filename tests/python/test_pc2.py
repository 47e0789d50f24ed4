# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2 files: reading returns what was written; incomplete and foreign files are refused."""

import os
import struct
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support  # noqa: F401 - makes bake importable

import numpy as np
from bake.formats import pc2
from bake.errors import BakeError


class PC2(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "a.pc2"
        self.data = np.random.default_rng(1).normal(size=(5, 7, 3)).astype(np.float32)

    def write(self, count=5, **settings):
        with pc2.Writer(self.path, 7, start=11, **settings) as writer:
            for frame in self.data[:count]:
                writer.append(frame)

    def refused(self, sentence, call, *arguments, **settings):
        with self.assertRaises(BakeError) as caught:
            call(*arguments, **settings)
        self.assertIn(sentence, str(caught.exception))

    def test_bytes_are_those_of_the_format(self):
        self.write(2)
        expected = b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 7, 11, 1, 2) + self.data[:2].astype("<f4").tobytes()
        self.assertEqual(self.path.read_bytes(), expected)

    def test_what_is_written_is_read(self):
        self.write()
        self.assertEqual(pc2.check(self.path, 7, 5), (7, 11.0, 1.0, 5))
        np.testing.assert_array_equal(pc2.frames(self.path), self.data)

    def test_other_layouts_of_a_frame_are_taken(self):
        with pc2.Writer(self.path, 7) as writer:
            writer.append(np.asfortranarray(self.data[0].astype(np.float64)))
        np.testing.assert_array_equal(pc2.frames(self.path)[0], self.data[0])

    def test_a_frame_counts_only_after_it_is_whole_and_synced(self):
        seen = []
        with pc2.Writer(self.path, 7) as writer:
            writer.append(self.data[0])
            with mock.patch(
                "os.fsync", lambda _: seen.append((pc2.check(self.path).frames, os.path.getsize(self.path)))
            ):
                writer.append(self.data[1])
        self.assertEqual(seen[0], (1, pc2.HEADER.size + 2 * 7 * 12))
        self.assertEqual(pc2.check(self.path).frames, 2)

    def test_a_full_disk_leaves_the_frames_before(self):
        with pc2.Writer(self.path, 7) as writer:
            writer.append(self.data[0])
            with mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")):
                self.refused("the disk is full", writer.append, self.data[1])
            self.assertEqual(pc2.check(self.path).frames, 1)
            writer.append(self.data[2])
        np.testing.assert_array_equal(pc2.frames(self.path), self.data[[0, 2]])

    def test_going_on_gives_the_same_bytes(self):
        self.write()
        whole = self.path.read_bytes()
        for keep in (0, 2, 5):
            with pc2.Writer(self.path, 7, keep=True) as writer:
                writer.truncate(keep)
                self.assertEqual(pc2.check(self.path).frames, keep)
                for frame in self.data[keep:]:
                    writer.append(frame)
            self.assertEqual(self.path.read_bytes(), whole)

    def test_rows_may_be_written_again(self):
        self.write()
        with pc2.Writer(self.path, 7, keep=True) as writer:
            writer.write(1, self.data[4])
        np.testing.assert_array_equal(pc2.frames(self.path), self.data[[0, 4, 2, 3, 4]])
        np.testing.assert_array_equal(pc2.read_row(self.path, 1), self.data[4])
        self.refused("has 5 frames, none at 5", pc2.read_row, self.path, 5)

    def test_links_are_not_followed(self):
        victim = self.path.parent / "victim"
        victim.write_bytes(b"precious")
        self.path.symlink_to(victim)
        self.refused("symbolic link", pc2.Writer, self.path, 7, keep=True)
        self.write(1)
        self.assertEqual(victim.read_bytes(), b"precious")
        self.assertFalse(self.path.is_symlink())

    def test_a_torn_tail_does_not_count(self):
        self.write(3)
        with open(self.path, "ab") as file:
            file.write(b"half a frame")
        self.assertEqual(pc2.check(self.path).frames, 3)
        with pc2.Writer(self.path, 7, keep=True) as writer:
            writer.append(self.data[3])
        np.testing.assert_array_equal(pc2.frames(self.path), self.data[:4])

    def test_what_does_not_fit_is_refused(self):
        self.write(3)
        self.refused("for 7 vertices, but the mesh has 8", pc2.check, self.path, 8)
        self.refused("has 3 frames, but 4 are needed", pc2.check, self.path, 7, 4)
        self.refused("for 7 vertices, but", pc2.Writer, self.path, 6, keep=True)
        self.refused("cannot hold 0 vertices", pc2.Writer, self.path, 0)
        with pc2.Writer(self.path, 7, keep=True) as writer:
            self.refused("a frame of shape (6, 3)", writer.append, self.data[0, :6])
            self.refused("frame 4 cannot follow", writer.write, 4, self.data[0])
            self.refused("frame -1 cannot follow", writer.write, -1, self.data[0])
        self.assertEqual(pc2.check(self.path).frames, 3)

    def test_damaged_files_are_named(self):
        self.write(3)
        whole = self.path.read_bytes()
        for data, sentence in (
            (whole[:-1], "cut off: 2 of its 3 frames"),
            (whole[:20], "ends within"),
            (b"x" + whole[1:], "not a PC2"),
            (b"", "ends within"),
            (whole[:12] + struct.pack("<i", 2) + whole[16:], "version 2"),
            (whole[:16] + struct.pack("<i", -7) + whole[20:], "damaged"),
            (whole[:28] + struct.pack("<i", -1) + whole[32:], "damaged"),
        ):
            self.path.write_bytes(data)
            self.refused(sentence, pc2.frames, self.path)

    def test_missing_files_and_folders_are_named(self):
        self.refused("it does not exist", pc2.check, self.path)
        self.refused("it does not exist", pc2.Writer, self.path.parent / "none" / "a.pc2", 7)
        self.refused("it is a folder", pc2.Writer, self.path.parent, 7)

    def test_no_frames_is_a_file_too(self):
        self.write(0)
        self.assertEqual(pc2.frames(self.path).shape, (0, 7, 3))


if __name__ == "__main__":
    unittest.main()
