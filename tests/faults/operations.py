# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file operation of a small bake: killed before it, failed once, failed from there for good.

Each case bakes in a fork of a process that has everything loaded, with one fault (shim.c), then
resumes in another fork without faults. All files must then be those of a bake without faults, to the
bit. operations.py SHIM [--jobs N] [--only MODE:NUMBER]
"""
import argparse
import collections
import ctypes
import errno
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import scene

MODES = {  # errno (0: SIGKILL), for good
    "kill": (0, False), "ENOSPC once": (errno.ENOSPC, False), "EIO once": (errno.EIO, False),
    "ENOSPC for good": (errno.ENOSPC, True), "EIO for good": (errno.EIO, True)}
ROOM = 1 << 20
MEMORY = "/dev/shm"


class Shim:
    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        self._library.pliant_faults_arm.argtypes = (
            ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_void_p,
            ctypes.c_size_t)
        self._library.pliant_faults_count.restype = ctypes.c_long

    def arm(self, folder, number=0, error=0, forever=False, names=None):
        self._library.pliant_faults_arm(os.fsencode(folder), number, error, forever, names,
                                        ROOM if names else 0)

    def count(self):
        self._library.pliant_faults_disarm()
        return self._library.pliant_faults_count()


def forked(function, seconds=120):
    """What a function prints, run in a fork; None: it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            text = function() or ""
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode()[:4000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        text = file.read().decode()
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else text


class Campaign:
    def __init__(self, shim, place):
        self.shim, self.place = shim, Path(place)
        self.shot = scene.shot()
        whole = self.place / "whole"
        error = scene.bake(whole, self.shot)
        if error:
            sys.exit(f"the bake without faults failed: {error}")
        self.wanted = scene.results(whole)

    def operations(self):
        """Names of the operations of a bake, in their order."""
        def baked():
            names = ctypes.create_string_buffer(ROOM)
            folder = self.place / "counted"
            self.shim.arm(folder, names=names)
            error = scene.bake(folder, self.shot)
            self.shim.count()
            (self.place / "names").write_bytes(names.value)
            return error
        error = forked(baked)
        if error:
            sys.exit(f"the bake that is counted failed: {error}")
        return (self.place / "names").read_text().splitlines()

    def case(self, mode, number):
        """A line on what went wrong; empty: nothing."""
        folder = self.place / f"{os.getpid()}-{number}"
        error, forever = MODES[mode]

        def faulty():
            self.shim.arm(folder, number, error, forever)
            return scene.bake(folder, self.shot)
        forked(faulty)
        failed = forked(lambda: scene.bake(folder, self.shot))
        if failed is None:
            failed = "the resumed bake crashed"
        failed = failed or scene.differences(scene.results(folder), self.wanted)
        shutil.rmtree(folder, ignore_errors=True)
        return failed


def work(campaign, cases, log):
    with open(log, "w", encoding="utf-8") as file:
        for mode, number in cases:
            line = " ".join(campaign.case(mode, number).split())
            print(mode, number, line, sep="\t", file=file, flush=True)
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shim", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="MODE:NUMBER of one case")
    options = parser.parse_args()
    begun = time.monotonic()
    # in memory: nothing is lost with it but the time of fsync
    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as place:
        campaign = Campaign(Shim(options.shim), place)
        names = campaign.operations()
        cases = [(mode, number) for number in range(1, len(names) + 1) for mode in MODES]
        if options.only:
            mode, number = options.only.split(":")
            cases = [(mode, int(number))]
        print(f"{len(names)} file operations, {len(cases)} cases", flush=True)
        logs = [Path(place) / f"log-{n}" for n in range(options.jobs)]
        workers = []
        for n, log in enumerate(logs):
            child = os.fork()
            if child == 0:
                work(campaign, cases[n::options.jobs], log)
                os._exit(0)
            workers.append(child)
        for child in workers:
            os.waitpid(child, 0)
        rows = [line.split("\t") for log in logs for line in log.read_text().splitlines()]
    bad = [(int(number), mode, line) for mode, number, line in rows if line]
    for number, mode, line in sorted(bad):
        print(f"FAIL {mode} at {number} ({names[number - 1]}): {line}")
    failed = collections.Counter(mode for _, mode, _ in bad)
    for mode in MODES:
        print(f"    {mode:16} {failed[mode]:4d} of {sum(m == mode for m, _, _ in rows)} failed")
    lost = len(cases) - len(rows)  # a worker that died
    print(f"{time.monotonic() - begun:.0f} s")
    print(f"{len(rows) - len(bad)} passed, {len(bad) + lost} failed")
    return 1 if bad or lost else 0


if __name__ == "__main__":
    sys.exit(main())
