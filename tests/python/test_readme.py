# SPDX-License-Identifier: GPL-3.0-or-later
"""The code in README.md works."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import COMPILER, HEADER, ROOT

from solver import library

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language):
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.M | re.S)
    return text


class Readme(unittest.TestCase):
    def test_python(self):
        done = subprocess.run([sys.executable, "-c", block("python")], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        lowest = float(re.search(r"lowest vertex (\S+)", done.stdout).group(1))
        self.assertTrue(-0.1 < lowest < 0.2, done.stdout)

    @unittest.skipUnless(COMPILER, "no C compiler")
    def test_c(self):
        path = Path(library.find()).resolve()
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder) / "readme.c", Path(folder) / "readme"
            source.write_text(block("c"))
            subprocess.run(
                [
                    COMPILER,
                    "-std=c17",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    f"-I{HEADER.parent}",
                    str(source),
                    str(path),
                    f"-Wl,-rpath,{path.parent}",
                    "-o",
                    str(program),
                ],
                check=True,
            )
            done = subprocess.run(
                [str(program)], capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": ""}
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        height = float(re.search(r"height (\S+)", done.stdout).group(1))
        self.assertTrue(0.1 < height < 0.6, done.stdout)

    def test_links_lead_somewhere(self):
        for target in re.findall(r"\]\(([^)#]+)\)", README):
            if "://" not in target:
                self.assertTrue((ROOT / target).exists(), target)


if __name__ == "__main__":
    unittest.main()
