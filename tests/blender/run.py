# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tests/blender/test_*.py in a Python that has the module bpy; the last line is "N passed, M failed",
with "K skipped" before it if any were.

    python tests/blender/run.py [--jobs 2] [--timeout 600] [pattern ...]

A pattern that is part of a file's name chooses that file; others choose tests, as unittest -k.
$(tests/blenders python 4.2) is such a Python. The library is the checkout's (PLIANT_LIBRARY: another).

Files run in a few processes side by side, one after another in each, for loading Blender takes longer
than most of them: each begins with an empty file, factory settings, and the add-on just enabled. A
crash costs one file: the next one gets a new process.
"""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LAST_LINE = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped$")  # of a file, between processes


def load_python_run():
    """tests/python/run.py as a module; its name is this one's."""
    spec = importlib.util.spec_from_file_location("python_run", FOLDER.parent / "python" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_here(patterns):
    """The tests of each file that a line of the standard input names, in this process."""
    sys.path[:0] = [str(FOLDER)]
    sys.dont_write_bytecode = True
    import support

    user = support.prepare()
    import bpy

    python_run = load_python_run()
    for line in sys.stdin:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        support.enable()
        loader = unittest.TestLoader()
        if patterns:
            loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in patterns]
        suite = loader.loadTestsFromName(Path(line.strip()).stem)
        result = python_run.Result(unittest.runner._WritelnDecorator(sys.stdout), descriptions=False, verbosity=0)
        suite.run(result)
        support.disable()
        sys.stderr.flush()
        print(f"{result.good} passed, {result.bad} failed, {result.left} skipped", flush=True)
    shutil.rmtree(user, ignore_errors=True)
    os._exit(0)  # Blender's own way out of a module may crash; not ours to test


class Worker:
    """A process with a Blender in it, which is begun when it is needed."""

    def __init__(self, patterns, timeout):
        self.command = [sys.executable, "-u", __file__, "--here", *patterns]
        self.timeout, self.process = timeout, None

    def run(self, file):
        """The tests of one file: (good, bad, skipped), what it wrote."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        too_late = threading.Timer(self.timeout, self.process.kill)
        too_late.start()
        text = ""
        try:
            self.process.stdin.write(file.name + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                counts = LAST_LINE.match(line)
                if counts:
                    return tuple(map(int, counts.groups())), text.rstrip() + "\n"
                text += line
        except BrokenPipeError:
            pass
        finally:
            too_late.cancel()
        code, self.process = self.process.wait(), None
        ending = f"ended with code {code} before its last test, or took {self.timeout:g} s"
        good, bad, left = (len(re.findall(f"^{mark} ", text, re.MULTILINE)) for mark in ("ok", "FAIL", "skip"))
        return (good, bad + 1, left), f"{text}\nFAIL {file.name} {ending}\n"

    def end(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.read()
            self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    if options.here:
        run_here(options.patterns)

    files = sorted(FOLDER.glob("test_*.py"))
    named = [f for f in files if any(p in f.stem for p in options.patterns)]
    if named:
        files = named
    patterns = [p for p in options.patterns if not any(p in f.stem for f in named)]
    total = (0, 0, 0)
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        here = threading.local()
        workers = []

        def run(file):
            if not hasattr(here, "worker"):
                here.worker = Worker(patterns, options.timeout)
                workers.append(here.worker)
            return here.worker.run(file)

        for counts, text in pool.map(run, files):
            total = tuple(map(sum, zip(total, counts)))
            print(text, end="", flush=True)
    for worker in workers:
        worker.end()
    print(load_python_run().last_lines(*total), flush=True)
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
