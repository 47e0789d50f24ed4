# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaking a mesh in another process: equal results, error sentences, cancelling."""

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
from fracture_scene import between, box, cloud, particles

from addon.fracture import CrackError, Look, archive, break_in_background, break_mesh, background

SIZE, SPACING = np.array([1.0, 0.6, 0.4]), 0.1


def halves():
    return particles(cloud(SIZE, SPACING), SPACING, between(lambda p: p[:, 0] < 0.5))


class BackgroundWorker(unittest.TestCase):
    def same(self, one, two):
        for field in dataclasses.fields(one):
            a, b = getattr(one, field.name), getattr(two, field.name)
            if dataclasses.is_dataclass(a):
                self.same(a, b)
            elif isinstance(a, dict):
                self.assertEqual(list(a), list(b))
                for key in a:
                    np.testing.assert_array_equal(a[key], b[key])
            elif isinstance(a, np.ndarray):
                self.assertEqual(a.dtype, b.dtype)
                np.testing.assert_array_equal(a, b)
            else:
                self.assertEqual(a, b)

    def test_the_same_to_the_bit(self):
        look = Look(uv_layers=("uv",), roughness=0.1)
        self.same(break_mesh(box(SIZE), halves(), look), break_in_background(box(SIZE), halves(), look))

    def test_untouched_is_the_same_mesh(self):
        surface = box(SIZE)
        broken = break_in_background(surface, particles(cloud(SIZE, SPACING), SPACING), Look())
        self.assertIs(broken.surface, surface)

    def test_sentences_come_through(self):
        surface = box(SIZE)
        surface.vertices[3] = np.inf
        with self.assertRaisesRegex(CrackError, "Vertex 3 of the mesh has no position"):
            break_in_background(surface, halves(), Look())

    def test_mesh_far_from_its_particles_is_refused(self):
        for far in (1e3, 1e12, 1e30, 1e300):
            surface = box(SIZE)
            surface.vertices[3] *= -far
            with self.assertRaisesRegex(CrackError, "times as far as the particles"):
                break_in_background(surface, halves(), Look())

    def test_a_process_that_fails_is_a_sentence(self):
        with mock.patch.object(background.sys, "executable", "/bin/false"):
            with self.assertRaisesRegex(CrackError, "ended with code 1"):
                break_in_background(box(SIZE), halves(), Look())

    @unittest.skipUnless(os.name == "posix", "needs a program that sleeps")
    def test_cancel_ends_it(self):
        with tempfile.TemporaryDirectory() as folder:
            slow = Path(folder, "slow")
            slow.write_text("#!/bin/sh\nexec sleep 60\n")
            slow.chmod(0o755)
            with mock.patch.object(background.sys, "executable", str(slow)):
                began = time.monotonic()
                self.assertIsNone(
                    break_in_background(box(SIZE), halves(), Look(), lambda: time.monotonic() > began + 0.2)
                )
                self.assertLess(time.monotonic() - began, 20)

    @unittest.skipUnless(os.name == "posix", "a parent's end does not show elsewhere")
    def test_ends_with_the_process_that_waits_for_it(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "place")
            place.mkdir()
            end = f"import background, os; background.end_with(os.getppid() + 1, {str(place)!r})"
            done = subprocess.run([sys.executable, "-c", end], cwd=Path(background.__file__).parent, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertFalse(place.exists())

    def test_archive_refuses_objects(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(TypeError, "array of objects"):
                archive.save(Path(folder, "x.npz"), bad=np.array([object()]))


if __name__ == "__main__":
    unittest.main()
