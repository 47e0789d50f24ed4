# SPDX-License-Identifier: GPL-3.0-or-later
"""With little memory: a result or a sentence, never a hang, never a signal."""

import subprocess
import sys
import unittest

from support import ADDON

from solver import library

PROGRAM = """
import resource, sys
sys.path.insert(0, {addon!r})
import numpy as np
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {more} * 2**20,) * 2)
try:
    from solver import scene
    from solver.errors import PliantError
    from solver.library import LibraryError
    n = 40
    points = np.stack(np.meshgrid(*[np.arange(n) * .1] * 3), -1).reshape(-1, 3)
    with scene.Scene(threads=4) as made:
        made.add_body(points=points.astype(np.float32), cluster=dict(count=200))
        made.advance()
except (PliantError, LibraryError, MemoryError, ImportError) as error:
    print("said:", type(error).__name__, error)
    sys.exit(3)
print("done")
"""


@unittest.skipUnless(sys.platform.startswith("linux"), "RLIMIT_AS is Linux's")
class Little(unittest.TestCase):
    def test_limits_end_in_a_sentence(self):
        ended = []
        for more in (16, 64, 96, 128, 160, 200, 240, 250, 260, 270, 280, 300, 600, 1500):
            program = PROGRAM.format(addon=str(ADDON), more=more)
            done = subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                text=True,
                timeout=120,
                env={"PLIANT_LIBRARY": str(library.find())},
            )
            self.assertIn(done.returncode, (0, 3), f"{more} MB: {done.stdout}{done.stderr}")
            self.assertTrue(done.stdout.strip(), f"{more} MB: nothing was said")
            ended.append(done.returncode)
            print(f"    {more} MB more: {done.stdout.strip()[:150]}")
        self.assertEqual((ended[0], ended[-1]), (3, 0))


if __name__ == "__main__":
    unittest.main()
