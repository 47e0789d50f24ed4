# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tests/blender/test_*.py in a Python that has the module bpy, each file in a process of its own:
a crash costs one file. The last line is "N passed, M failed".

    python tests/blender/run.py [--jobs 2] [--timeout 600] [pattern ...]

A pattern that is part of a file's name chooses that file; others choose tests, as unittest -k.
$(tests/blenders python 4.2) is such a Python. The library is the checkout's (PLIANT_LIBRARY: another).
"""
import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LAST_LINE = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)


def run_here(file, patterns):
    """The tests of one file, in this process."""
    sys.path[:0] = [str(FOLDER)]
    sys.dont_write_bytecode = True
    import house
    user = house.prepare()
    import bpy
    bpy.ops.wm.read_factory_settings(use_empty=True)
    house.enable()
    spec = importlib.util.spec_from_file_location("python_run", FOLDER.parent / "python" / "run.py")
    python_run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(python_run)
    loader = unittest.TestLoader()
    if patterns:
        loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in patterns]
    suite = loader.loadTestsFromName(Path(file).stem)
    result = python_run.Result(unittest.runner._WritelnDecorator(sys.stdout), descriptions=False,
                               verbosity=0)
    suite.run(result)
    house.disable()
    shutil.rmtree(user, ignore_errors=True)
    print(f"{result.good} passed, {result.bad} failed", flush=True)
    sys.stderr.flush()
    os._exit(1 if result.bad else 0)    # Blender's own way out of a module may crash; not ours to test


def run_apart(file, patterns, timeout):
    """The tests of one file, in a process of its own: (good, bad, what it wrote)."""
    command = [sys.executable, "-u", __file__, "--here", file.name, *patterns]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout)
        text, ending = done.stdout, f"ended with code {done.returncode} before its last test"
    except subprocess.TimeoutExpired as error:
        text = error.stdout or ""
        text = text if isinstance(text, str) else text.decode(errors="replace")
        done, ending = None, f"was still running after {timeout} s"
    counts = LAST_LINE.findall(text)
    if done is None or not counts:
        good = len(re.findall(r"^ok  ", text, re.MULTILINE))
        bad = len(re.findall(r"^FAIL ", text, re.MULTILINE))
        return good, bad + 1, f"{text}\nFAIL {file.name} {ending}\n"
    return int(counts[-1][0]), int(counts[-1][1]), LAST_LINE.sub("", text).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--here", help=argparse.SUPPRESS)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    if options.here:
        run_here(options.here, options.patterns)

    files = sorted(FOLDER.glob("test_*.py"))
    named = [f for f in files if any(p in f.stem for p in options.patterns)]
    if named:
        files = named
    patterns = [p for p in options.patterns if not any(p in f.stem for f in named)]
    total_good = total_bad = 0
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        futures = [pool.submit(run_apart, f, patterns, options.timeout) for f in files]
        for future in futures:
            good, bad, text = future.result()
            total_good, total_bad = total_good + good, total_bad + bad
            print(text, end="", flush=True)
    print(f"{total_good} passed, {total_bad} failed", flush=True)
    return 1 if total_bad else 0


if __name__ == "__main__":
    sys.exit(main())
