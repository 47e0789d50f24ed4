# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of a body that is torn and one that flows, killed with SIGKILL at random moments and resumed;
all files must be those of a bake that nobody killed. kills.py [COUNT] [--seed S]

A moment is a number of milliseconds up to the whole bake's time. It decides where a kill falls, never
whether a case passes."""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import scene
from harness import compared, forked

SIZE = {"end": 12, "count": 250, "checkpoint_every": 4}


def killed(folder, shot, seconds):
    """Whether the kill came before the end of the bake."""
    child = os.fork()
    if child == 0:
        try:
            scene.bake(folder, shot)
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)  # ended, but not waited for: no other has its number
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def case(place, shot, wanted, moments):
    """A line on what went wrong (empty: nothing), and how many kills came in time."""
    folder = Path(place) / str(os.getpid())
    hits = sum(killed(folder, shot, seconds) for seconds in moments)
    failed = forked(lambda: scene.bake(folder, shot))
    if failed is None:
        failed = "the resumed bake crashed"
    failed = failed or compared(scene.results(folder), wanted)
    shutil.rmtree(folder, ignore_errors=True)
    return failed, hits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=14)
    options = parser.parse_args()
    chosen = random.Random(options.seed)
    shot = scene.shot(**SIZE)
    bad = hits = 0
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        begun = time.monotonic()
        error = forked(lambda: scene.bake(whole, shot))
        if error or error is None:
            sys.exit(f"the bake that nobody kills failed: {error}")
        took = time.monotonic() - begun
        wanted = scene.results(whole)
        for number in range(options.count):
            # every third bake is killed twice: the second kill falls into a resumed bake
            moments = [chosen.uniform(0, took) for _ in range(2 if number % 3 == 2 else 1)]
            failed, came = case(place, shot, wanted, moments)
            hits += came
            if failed:
                bad += 1
                print(f"FAIL killed after {[round(m, 4) for m in moments]} s of {took:.2f}: {failed}", flush=True)
    print(f"{options.count} bakes of {took:.2f} s, {hits} kills before their end")
    print(f"{options.count - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
