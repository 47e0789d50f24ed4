# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the Python tests; the last line is "N passed, M failed", with "K skipped" before it if any were.

    python tests/python/run.py [--jobs 2] [pattern ...]      (as unittest -k)

With several jobs each file's tests run in a process of their own, so many side by side.
"""

import argparse
import re
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LAST_LINES = re.compile(r"(?:(\d+) skipped\n)?(\d+) passed, (\d+) failed\n\Z")


class Result(unittest.TextTestResult):
    """One line a test, as the native tests write them."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.good = self.bad = self.left = 0
        self.began = 0.0

    def startTest(self, test):
        unittest.TestResult.startTest(self, test)
        self.began = time.perf_counter()

    def report(self, mark, test, reason=""):
        seconds = time.perf_counter() - self.began
        name = test.id() if hasattr(test, "id") else str(test)
        self.stream.writeln(f"{mark} {name} ({seconds:.2f} s){reason}")
        self.stream.flush()

    def addSuccess(self, test):
        self.good += 1
        self.report("ok  ", test)

    def addSkip(self, test, reason):
        self.left += 1
        self.report("skip", test, f": {reason}")

    def fault(self, test, error):
        self.bad += 1
        self.report("FAIL", test)
        self.stream.writeln("    " + self._exc_info_to_string(error, test).replace("\n", "\n    "))

    addFailure = addError = fault

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.fault(subtest, error)

    def addExpectedFailure(self, test, error):
        self.good += 1
        self.report("ok  ", test, ": fails as expected")

    def addUnexpectedSuccess(self, test):
        self.bad += 1
        self.report("FAIL", test, ": did not fail")


def last_lines(good, bad, left):
    """What a runner ends with."""
    return (f"{left} skipped\n" if left else "") + f"{good} passed, {bad} failed"


def run_here(files, patterns):
    """The tests of files with such names, in this process: (good, bad, skipped)."""
    loader = unittest.TestLoader()
    if patterns:
        loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in patterns]
    suite = loader.discover(str(FOLDER), pattern=files, top_level_dir=str(FOLDER))
    stream = unittest.runner._WritelnDecorator(sys.stdout)
    result = Result(stream, descriptions=False, verbosity=0)
    suite.run(result)
    return result.good, result.bad, result.left


def run_file(file, patterns):
    """The tests of a file in a process of their own: (good, bad, skipped), what they wrote."""
    done = subprocess.run(
        [sys.executable, "-u", __file__, "--files", file.name, *patterns],
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    counts = LAST_LINES.search(done.stdout)
    if counts and done.returncode in (0, 1):
        left, good, bad = (int(n or 0) for n in counts.groups())
        return (good, bad, left), done.stdout[: counts.start()]
    good, bad, left = (len(re.findall(f"^{mark} ", done.stdout, re.MULTILINE)) for mark in ("ok", "FAIL", "skip"))
    return (good, bad + 1, left), f"{done.stdout}FAIL {file.name} ended with code {done.returncode}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--files", default="test_*.py", help=argparse.SUPPRESS)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    good = bad = left = 0
    if options.jobs > 1:
        # large files first, so that no core waits for another at the end
        files = sorted(FOLDER.glob(options.files), key=lambda file: -file.stat().st_size)
        if options.patterns and all(any(p in f.stem for f in files) for p in options.patterns):
            files = [f for f in files if any(p in f.stem for p in options.patterns)]
        with ThreadPoolExecutor(options.jobs) as pool:
            for counts, text in pool.map(lambda f: run_file(f, options.patterns), files):
                good, bad, left = (a + b for a, b in zip((good, bad, left), counts))
                print(text, end="", flush=True)
    else:
        good, bad, left = run_here(options.files, options.patterns)
    print(last_lines(good, bad, left), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
