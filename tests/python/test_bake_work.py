# SPDX-License-Identifier: GPL-3.0-or-later
"""How much is done for a frame of a bake besides simulating it: operations are counted, not
milliseconds (tests/bench/addon_share.py has those), so that what was gained is not lost unseen."""

import sys
import tempfile
import unittest
from collections import Counter
from unittest import mock

import bake_scene
import numpy as np
from addon.bake import job as jobs
from addon.bake import plan
from addon.bake.formats import pc2
from addon.solver import _abi, library

FRAMES = 12


def still(**changes):
    """A shot in which nothing moves but the body."""
    shot = bake_scene.shot(end=FRAMES, substeps=1, **changes)
    for frame in shot.frames[1:]:
        first = shot.frames[0]
        frame.bodies, frame.colliders, frame.fields = first.bodies, first.colliders, first.fields
    return shot


def finer(shot):
    """The same with four times the triangles, which share no vertices."""
    body = shot.bodies[0]
    corners = body.vertices[body.triangles]
    middles = (corners + corners[:, (1, 2, 0)]) / 2
    parts = [np.stack([corners[:, k], middles[:, k], middles[:, k - 1]], 1) for k in range(3)]
    body.vertices = np.concatenate([*parts, middles]).reshape(-1, 3).astype(np.float32)
    body.triangles = np.arange(len(body.vertices), dtype=np.uint32).reshape(-1, 3)
    body.factors = {}
    return shot


class Work(unittest.TestCase):
    def bake(self, shot, change=lambda recorder: None):
        """Bakes, calling change(recorder) before each frame."""
        advance = jobs.Recorder.advance

        def watched(recorder, frame):
            change(recorder)
            advance(recorder, frame)

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(jobs.Recorder, "advance", watched):
            job = plan.make_job(folder, shot)
            job.run()
        self.assertIsNone(job.error)

    def test_the_library_is_called_for_nothing_that_it_knows(self):
        loaded, seen, by_frame = library.load(), Counter(), []

        def counted(name):
            function = getattr(loaded, name)

            def call(*arguments):
                seen[name] += 1
                return function(*arguments)

            return mock.patch.object(loaded, name, call)

        def next_frame(_recorder):
            by_frame.append(dict(seen))
            seen.clear()

        patches = [counted(name) for name in _abi.FUNCTIONS]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.bake(still(), next_frame)
        self.assertEqual(len(by_frame), FRAMES - 1)
        for calls in by_frame[1:]:  # the first is setting up
            self.assertEqual(
                calls,
                {
                    "pliant_frame_desc_init": 1,
                    "pliant_scene_advance": 1,
                    "pliant_store_write_frame": 1,
                    "pliant_skin_apply": 1,
                },
            )

    def test_few_calls_a_frame_however_many_vertices(self):
        by_mesh = []
        for shot in (still(), finer(still())):
            marks, count = [], 0

            def counted(_frame, event, _argument):
                nonlocal count
                count += event in ("call", "c_call")

            sys.setprofile(counted)
            try:
                self.bake(shot, lambda _recorder: marks.append(count))
            finally:
                sys.setprofile(None)
            by_mesh.append(np.median(np.diff(marks)))
        self.assertLess(by_mesh[0], 140)
        self.assertEqual(*by_mesh)

    def test_a_frame_goes_from_the_library_to_the_file_untouched(self):
        """No copy, no arithmetic: NumPy is not asked for anything on the whole of a row."""
        touched = []

        class Watched(np.ndarray):
            def __array_ufunc__(self, function, method, *inputs, **settings):
                touched.append(function.__name__)
                plain = [np.asarray(i) if isinstance(i, Watched) else i for i in inputs]
                return getattr(function, method)(*plain, **settings)

            def __array_function__(self, function, _types, arguments, settings):
                touched.append(function.__name__)
                return function(*map(np.asarray, arguments), **settings)

        skinned, written = [], []
        write = pc2.Writer._write

        def watch(recorder):
            recorder.point_caches.rows.wait()
            recorder.point_caches.rooms = [room.view(Watched) for room in recorder.point_caches.rooms]
            skinned.append(recorder.point_caches.rooms[0].ctypes.data)

        def seen(writer, data):
            if len(data) == pc2.ROW * len(bake_scene.CUBE):
                written.append(np.frombuffer(data, np.uint8).ctypes.data)
            write(writer, data)

        with mock.patch.object(pc2.Writer, "_write", seen):
            self.bake(bake_scene.shot(end=FRAMES), watch)
        self.assertEqual(touched, [])
        self.assertEqual(written[1:], skinned)


if __name__ == "__main__":
    unittest.main()
