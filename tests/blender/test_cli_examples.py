# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example builds its scene, bakes it and draws it, at a small size."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import support

EXAMPLES = support.ROOT / "examples"
NAMES = re.search(r'^IN_BLENDER="(.*)"$', (EXAMPLES / "run").read_text(), re.M).group(1).split()


def run(name, folder):
    return subprocess.run(
        [
            sys.executable,
            str(EXAMPLES / f"{name}.py"),
            "--out",
            str(folder),
            "--frames",
            "3",
            "--particles",
            ".1",
            "--samples",
            "1",
            "--scale",
            ".1",
        ],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


@support.oldest_and_newest
class Examples(unittest.TestCase):
    def test_each_bakes_and_draws(self):
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            places = {name: Path(folder) / name for name in NAMES}
            done = dict(zip(NAMES, pool.map(lambda name: run(name, places[name]), NAMES)))
            for name, place in places.items():
                with self.subTest(name):
                    said = done[name].stdout + done[name].stderr
                    self.assertEqual(done[name].returncode, 0, said[-3000:])
                    self.assertNotIn("Traceback", said)
                    for file in (f"{name}.png", f"{name}.blend", f"{name}-baked.blend", "cache/bake.json"):
                        self.assertTrue((place / file).is_file(), f"{name}: {file}")

    def test_baked_once(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("ball", folder).returncode, 0)
            again = run("ball", folder)
            self.assertEqual(again.returncode, 0, again.stdout)
            self.assertIn("are baked already", again.stdout)


if __name__ == "__main__":
    unittest.main()
