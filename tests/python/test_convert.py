# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings, arrays, exceptions and the search for the library: everything without simulation."""

import ctypes
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import support  # noqa: F401 - makes solver importable

import numpy as np
from solver import _abi, convert, errors, library


class Settings(unittest.TestCase):
    def test_fields_are_set_at_every_depth(self):
        desc = _abi.BodyDesc()
        convert.fill(
            desc,
            {
                "velocity": (1, 2, 3),
                "sample": {"count": np.int64(7)},
                "material": {"stiffness": 3, "goal": _abi.Goal.QUADRATIC},
                "levels": {"weights": [0.5, 0.25]},
            },
        )
        self.assertEqual(list(desc.velocity), [1, 2, 3])
        self.assertEqual(desc.sample.count, 7)
        self.assertEqual((desc.material.stiffness, desc.material.goal), (3.0, 2))
        self.assertEqual(list(desc.levels.weights[:3]), [0.5, 0.25, 0])

    def refuse(self, kind, sentence, **settings):
        with self.assertRaises(kind) as caught:
            convert.fill(_abi.BodyDesc(), settings)
        self.assertIn(sentence, str(caught.exception))

    def test_what_does_not_fit_is_named(self):
        self.refuse(TypeError, "no setting 'velocty'; there are: points_origin", velocty=1)
        self.refuse(TypeError, "no setting 'sample.cuont'", sample={"cuont": 1})
        self.refuse(TypeError, "'sample' takes a dict of settings, not 3", sample=3)
        self.refuse(TypeError, "no setting 'size'", size=3)
        self.refuse(TypeError, "no setting 'point_count'", point_count=3)
        self.refuse(TypeError, "no setting 'points'", points=3)
        self.refuse(TypeError, "no setting 'user'", user=3)
        self.refuse(TypeError, "'sample.count' takes a whole number, not 1.5", sample={"count": 1.5})
        self.refuse(TypeError, "'material.stiffness' takes a number, not 'soft'", material={"stiffness": "soft"})
        self.refuse(ValueError, "'sample.count' is out of range: -1", sample={"count": -1})
        self.refuse(ValueError, "'sample.seed' is out of range", sample={"seed": 1 << 32})
        self.refuse(ValueError, "'velocity' takes 3 numbers, not 2", velocity=(1, 2))
        self.refuse(ValueError, "'levels.weights' takes at most 16 numbers, not 17", levels={"weights": [1] * 17})
        self.refuse(TypeError, "'velocity[1]' takes a number", velocity=(1, "x", 2))

    def test_a_matrix_needs_all_its_numbers(self):
        desc = _abi.FieldDesc()
        convert.fill(desc, {"matrix": np.eye(4)})
        self.assertEqual(list(desc.matrix), np.eye(4).ravel().tolist())
        with self.assertRaises(ValueError):
            convert.fill(desc, {"matrix": np.eye(3)})

    def test_structs_become_plain(self):
        info = _abi.BodyInfo()
        info.centre[1] = 4
        info.level[0].clusters = 9
        out = convert.plain(info)
        self.assertEqual(out.centre, (0, 4, 0))
        self.assertEqual(out.level[0].clusters, 9)
        self.assertFalse(hasattr(out, "size"))


class Arrays(unittest.TestCase):
    def test_floats_are_made_contiguous_float32(self):
        wide = np.arange(24, dtype=np.float64).reshape(4, 6)[:, ::2]
        array = convert.floats(wide, "points")
        self.assertEqual((array.dtype, array.shape), (np.float32, (4, 3)))
        self.assertTrue(array.flags.c_contiguous)
        np.testing.assert_array_equal(array, wide)
        same = np.zeros((5, 3), np.float32)
        self.assertIs(convert.floats(same, "points").base, same)  # not copied
        self.assertEqual(convert.floats(np.zeros(6), "points").shape, (2, 3))
        self.assertEqual(convert.floats([], "points").shape, (0, 3))
        self.assertIsNone(convert.floats(None, "points"))

    def test_wrong_arrays_are_named(self):
        for call, sentence in (
            (
                lambda: convert.floats(np.zeros((2, 4)), "points"),
                r"'points' has shape \(2, 4\), not \(n, 3\) or \(3n,\)",
            ),
            (lambda: convert.floats(np.zeros(4), "points"), "'points' has shape"),
            (lambda: convert.floats(np.zeros((1, 1, 3)), "points"), "'points' has shape"),
            (lambda: convert.floats(np.zeros(3), "weights", 1, 4), "has 3 rows, not 4"),
            (lambda: convert.indices([[0, 1, -1]], "triangles"), "holds -1 to 1"),
            (lambda: convert.indices([[0, 1, 1 << 32]], "triangles"), "not indices"),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                call()
        with self.assertRaisesRegex(TypeError, "'triangles' takes an array of whole numbers"):
            convert.indices(np.zeros((2, 3)), "triangles")
        with self.assertRaisesRegex(TypeError, "'points' takes an array of numbers"):
            convert.floats(["a", "b", "c"], "points")

    def test_outputs_are_checked(self):
        array = np.zeros((4, 3), np.float32)
        self.assertIs(convert.output(array, "out", np.float32, (4, 3)), array)
        frozen = np.zeros((4, 3), np.float32)
        frozen.flags.writeable = False
        for bad in (np.zeros((4, 3)), np.zeros((3, 3), np.float32), [1], frozen, np.zeros((4, 6), np.float32)[:, ::2]):
            with self.assertRaisesRegex(ValueError, "'out' must be a writable, contiguous float32"):
                convert.output(bad, "out", np.float32, (4, 3))


class Errors(unittest.TestCase):
    def fake(self, sentence=b"the sentence"):
        return mock.Mock(pliant_last_error=lambda: sentence)

    def test_statuses_become_exceptions(self):
        errors.check(self.fake(), 0)
        with self.assertRaisesRegex(errors.PliantError, "the sentence") as caught:
            errors.check(self.fake(), 5)
        self.assertIs(caught.exception.status, _abi.Status.ERROR_MESH)
        with self.assertRaises(errors.Cancelled):
            errors.check(self.fake(), 1)
        with self.assertRaisesRegex(errors.PliantError, "a mesh cannot be used"):
            errors.check(self.fake(b""), 5)
        with self.assertRaisesRegex(errors.PliantError, "unknown status 99"):
            errors.check(self.fake(), 99)

    def test_exceptions_pass_through_callbacks(self):
        for kind in (ZeroDivisionError, KeyboardInterrupt):
            watcher = errors.Progress(mock.Mock(side_effect=kind))
            self.assertEqual(watcher.callback(None, 0.5, b"stage"), 1)
            with self.assertRaises(kind):
                watcher.finish(self.fake(), 1)

    def test_callbacks_answer(self):
        seen = []
        watcher = errors.Progress(lambda *given: seen.append(given))
        self.assertEqual(watcher.callback(None, 0.5, b"stage"), 0)
        self.assertEqual(seen, [(0.5, "stage")])
        self.assertEqual(errors.Progress(lambda *_: True).callback(None, 0.5, b"x"), 1)
        self.assertFalse(errors.Progress(None).callback)


class Search(unittest.TestCase):
    """Each way of not having the library says what is wrong with which file."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def fails(self, path):
        with (
            mock.patch.dict(os.environ, {library.ENVIRONMENT: str(path)}),
            self.assertRaises(library.LibraryError) as caught,
        ):
            library.load()
        self.assertIn(str(path), str(caught.exception))
        return str(caught.exception)

    def test_a_file_that_is_not_there(self):
        self.assertIn("is not a file", self.fails(self.folder / "none.so"))

    def test_a_file_that_is_no_library(self):
        path = self.folder / "text.so"
        path.write_text("not a library")
        self.assertIn("cannot be loaded", self.fails(path))

    def test_another_library(self):
        import _ctypes

        if getattr(_ctypes, "__file__", None):
            self.assertIn("not a Pliant library", self.fails(_ctypes.__file__))

    def test_another_version(self):
        other = mock.Mock()
        other.pliant_abi_version.return_value = _abi.ABI_VERSION + 1
        with mock.patch.object(ctypes, "CDLL", return_value=other):
            (self.folder / "old.so").write_text("")
            self.assertIn(
                f"interface version {_abi.ABI_VERSION + 1}, this package needs {_abi.ABI_VERSION}",
                self.fails(self.folder / "old.so"),
            )

    def test_nowhere(self):
        with (
            mock.patch.dict(os.environ, clear=False) as environment,
            mock.patch.object(library, "_PACKAGE", self.folder),
            mock.patch.object(library, "_CHECKOUT", self.folder),
        ):
            environment.pop(library.ENVIRONMENT, None)
            with self.assertRaisesRegex(library.LibraryError, "is not installed. Looked for") as caught:
                library.find()
            self.assertIn("Install the extension again", str(caught.exception))
            header = self.folder / "native" / "include" / "pliant.h"
            header.parent.mkdir(parents=True)
            header.write_text("")
            with self.assertRaisesRegex(library.LibraryError, "Build it"):
                library.find()

    def test_beside_the_package_comes_first(self):
        here = self.folder / library.FILE_NAME
        here.write_text("")
        with (
            mock.patch.dict(os.environ, clear=False) as environment,
            mock.patch.object(library, "_PACKAGE", self.folder),
        ):
            environment.pop(library.ENVIRONMENT, None)
            self.assertEqual(library.find(), here)

    def test_the_newer_build_of_a_checkout(self):
        header = self.folder / "native" / "include" / "pliant.h"
        header.parent.mkdir(parents=True)
        header.write_text("")
        built = {}
        for age, name in enumerate(("build", "build-release")):
            built[name] = self.folder / name / "native" / library.FILE_NAME
            built[name].parent.mkdir(parents=True)
            built[name].write_text("")
            os.utime(built[name], (1e9 - age, 1e9 - age))
        with (
            mock.patch.dict(os.environ, clear=False) as environment,
            mock.patch.object(library, "_PACKAGE", self.folder / "addon" / "solver"),
            mock.patch.object(library, "_CHECKOUT", self.folder),
        ):
            environment.pop(library.ENVIRONMENT, None)
            self.assertEqual(library.find(), built["build"])
            os.utime(built["build-release"], (1e9 + 1, 1e9 + 1))
            self.assertEqual(library.find(), built["build-release"])


if __name__ == "__main__":
    unittest.main()
