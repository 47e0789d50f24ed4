# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may import whom in the add-on, and a few rules that a machine can check.

The order of native modules is in test_layers_native.py.
"""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import NATIVE, ROOT

SOURCES = NATIVE / "src"
STANDARD_HEADERS = {
    f"{name}.h"
    for name in "assert ctype errno float inttypes limits math stdalign stdarg stdatomic stdbool stddef stdint "
    "stdio stdlib string".split()
} | {"pliant.h"}
# header -> the only files that may include it; every other header is not to be used at all
SPECIAL_HEADERS = {
    "lapacke.h": {"base/lapack.c"},
    "zstd.h": {"output/store/frames_file.c"},
    **{name: {"base/simd.h"} for name in ("immintrin.h", "emmintrin.h", "arm_neon.h")},
    "xmmintrin.h": {"base/platform.c"},  # the floating-point state
    **{name: {"base/cpu.c"} for name in ("cpuid.h", "intrin.h", "sys/auxv.h")},
    **{
        name: {"base/platform.c"}
        for name in (
            "direct.h",
            "dirent.h",
            "fcntl.h",
            "io.h",
            "malloc.h",
            "process.h",
            "pthread.h",
            "sched.h",
            "sys/mman.h",
            "sys/stat.h",
            "sys/types.h",
            "time.h",
            "unistd.h",
            "windows.h",
        )
    },
}
# functions of the C library that results or memory accounting must not depend on
FORBIDDEN_CALLS = re.compile(
    r"(?<![\w.>])(s?rand|drand48|random|malloc|calloc|realloc|free|"
    r"setlocale)\s*\("
)
MAY_ALLOCATE = {"base/core.c", "base/platform.c", "base/handles.c"}


def native_files():
    return sorted(p for p in SOURCES.rglob("*") if p.suffix in (".c", ".h"))


def short(path):
    return path.relative_to(SOURCES).as_posix()


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def tracked(*suffixes):
    """Files of the project (as git knows them, or all but builds where there is no git)."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        paths = [ROOT / line for line in listed.stdout.splitlines()]
    else:
        paths = [p for p in ROOT.rglob("*") if not p.relative_to(ROOT).parts[0].startswith("build")]
    return sorted(p for p in paths if p.is_file() and (p.suffix in suffixes or not suffixes))


class Native(unittest.TestCase):
    def test_system_headers_stay_in_their_files(self):
        wrong = []
        for path in native_files():
            for header in re.findall(r"^\s*#\s*include\s+<([^>]+)>", path.read_text(), flags=re.M):
                if header in STANDARD_HEADERS or short(path) in SPECIAL_HEADERS.get(header, ()):
                    continue
                wrong.append(f"{short(path)} includes <{header}>")
        self.assertEqual(wrong, [])

    def test_calls_that_are_not_ours_to_make(self):
        wrong = []
        for path in native_files():
            if short(path) in MAY_ALLOCATE:
                continue
            text = without_comments(path.read_text())
            for match in FORBIDDEN_CALLS.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                wrong.append(f"{short(path)}:{line}: {match.group(1)}()")
        self.assertEqual(wrong, [])

    def test_public_header_stands_alone(self):
        includes = re.findall(r"#include\s+(\S+)", (NATIVE / "include" / "pliant.h").read_text())
        self.assertEqual(includes, ["<stddef.h>", "<stdint.h>"])

    @unittest.skipUnless(shutil.which("clang-format"), "no clang-format")
    def test_formatted(self):
        version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True)
        if not re.search(r"version 14\.", version.stdout):
            self.skipTest(f"clang-format 14 decides; this is {version.stdout.strip()}")
        files = [str(p) for p in tracked(".c", ".h")]
        done = subprocess.run(
            ["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True, text=True
        )
        named = sorted(
            {
                Path(m).relative_to(ROOT).as_posix()
                for m in re.findall(r"^(/[^:\n]+):\d+:\d+: error", done.stderr, flags=re.M)
            }
        )
        self.assertEqual(named, [], "run clang-format -i on them")
        self.assertEqual(done.returncode, 0, done.stderr[:2000])


class House(unittest.TestCase):
    def test_sources_say_their_licence(self):
        wrong = []
        for path in tracked(".c", ".h", ".py", ".cmake", ".sh"):
            head = path.read_text(encoding="utf-8").split("\n", 2)[:2]
            if path.stat().st_size and not any("SPDX-License-Identifier: GPL-3.0-or-later" in line for line in head):
                wrong.append(path.relative_to(ROOT).as_posix())
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
