# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file operation of something small: killed before it, failed once, failed from there for good.

Each case runs in a fork of a process that has everything loaded, in a folder of its own, with one fault
(shim.c); then again in another fork, without faults. What must be true after each is the campaign's:

    prepare(folder)         fills the folder before a case
    run(folder)             what is tested; a sentence if it failed
    after(folder, error)    after the fault; error: what run() said, None: killed. A sentence on what is wrong
    again(folder)           as run(), without faults; default: run()
    differences(folder)     after that; a sentence on what is wrong
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
import warnings
from pathlib import Path

MODES = {  # errno (0: SIGKILL), for good
    "kill": (0, False),
    "ENOSPC once": (errno.ENOSPC, False),
    "EIO once": (errno.EIO, False),
    "ENOSPC for good": (errno.ENOSPC, True),
    "EIO for good": (errno.EIO, True),
}
ROOM = 1 << 20
MEMORY = "/dev/shm"
warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork")  # Blender's threads have not begun


class Shim:
    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        self._library.pliant_faults_arm.argtypes = (
            ctypes.c_char_p,
            ctypes.c_long,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_size_t,
        )
        self._library.pliant_faults_count.restype = ctypes.c_long

    def arm(self, folder, number=0, error=0, forever=False, names=None):
        self._library.pliant_faults_arm(os.fsencode(folder), number, error, forever, names, ROOM if names else 0)

    def disarm(self):
        self._library.pliant_faults_disarm()


def forked(function):
    """What a function returns, a sentence or nothing, run in a fork; None: it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            text = function() or ""
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode(errors="replace")[:4000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        text = file.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else text


def silent():
    """In a fork: what Blender and the command line print goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def contents(folder, leave_out=()):
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(Path(folder).rglob("*"))
        if p.is_file() and not p.name.startswith(leave_out)
    }


def plain(name, data):
    """A file as two bakes have it in common. Checkpoints hold handles of their process, so they count by
    name; a frame's hash covers the scene's state. Of a journal what it says without its checksums, and of
    checkpoints without their contents."""
    if name.endswith(".plc"):
        return b""
    if not name.endswith(".plj"):
        return data
    records = [data[at : at + 80] for at in range(24, len(data), 80)]
    return b"".join(r[:72] if r[0] == 1 else r[:8] for r in records)


def compared(found, wanted):
    """A line on what two folders do not have in common; empty: nothing."""
    lines = [f"{name} is missing" for name in wanted if name not in found]
    lines += [f"{name} is left over" for name in found if name not in wanted]
    lines += [f"{name} differs" for name in wanted if found.get(name, wanted[name]) != wanted[name]]
    return "; ".join(lines)


class Campaign:
    def __init__(self, shim, place):
        self.shim, self.place = shim, Path(place)

    def prepare(self, folder):
        pass

    def run(self, folder):
        raise NotImplementedError

    def after(self, folder, error):
        return ""

    def again(self, folder):
        return self.run(folder)

    def differences(self, folder):
        raise NotImplementedError

    def folder(self, number):
        """Paths are in some files: all have one length."""
        return self.place / f"case-{os.getpid():08d}-{number:06d}"

    def operations(self):
        """Names of the operations of run(), in their order."""
        folder = self.folder(0)
        self.prepare(folder)

        def counted():
            names = ctypes.create_string_buffer(ROOM)
            self.shim.arm(folder, names=names)
            error = self.run(folder)
            self.shim.disarm()
            (self.place / "names").write_bytes(names.value)
            return error

        error = forked(counted)
        if error or error is None:
            sys.exit(f"what is counted failed: {error}")
        shutil.rmtree(folder, ignore_errors=True)
        return (self.place / "names").read_text().splitlines()

    def case(self, mode, number):
        """A line on what went wrong; empty: nothing."""
        folder = self.folder(number)
        error, forever = MODES[mode]
        self.prepare(folder)

        def faulty():
            self.shim.arm(folder, number, error, forever)
            try:
                return self.run(folder)
            finally:
                self.shim.disarm()

        said = forked(faulty)
        failed = self.after(folder, said)
        if not failed:
            failed = forked(lambda: self.again(folder))
        if failed is None:
            failed = "it crashed afterwards"
        failed = failed or self.differences(folder)
        shutil.rmtree(folder, ignore_errors=True)
        return failed


def work(campaign, cases, log):
    with open(log, "w", encoding="utf-8") as file:
        for mode, number in cases:
            line = " ".join(campaign.case(mode, number).split())
            print(mode, number, line, sep="\t", file=file, flush=True)


def options_of(parser=None):
    parser = parser or argparse.ArgumentParser()
    parser.add_argument("shim", type=Path, nargs="?")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="MODE:NUMBER of one case")
    parser.add_argument("--every", type=int, default=1, help="only each so-manieth case")
    return parser.parse_args()


def cases_of(names):
    """Numbers of operations and modes. A kill is told apart from others by what is on the disk then, so
    it comes before operations that change something; a full disk stops what needs room."""
    matter = {"kill": ("changes",), "ENOSPC once": ("changes", "room"), "ENOSPC for good": ("changes", "room")}
    return [
        (mode, number)
        for number, name in enumerate(names, 1)
        for mode in MODES
        if name.split()[0] in matter.get(mode, ("changes", "room", "reads"))
    ]


def main(title, kind, options):
    """Runs the cases of a kind of Campaign; how many failed."""
    begun = time.monotonic()
    # in memory: nothing is lost with it but the time of fsync
    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as place:
        campaign = kind(Shim(options.shim), place)
        names = campaign.operations()
        cases = cases_of(names)[:: options.every]
        if options.only:
            mode, number = options.only.split(":")
            cases = [(mode, int(number))]
        print(f"{title}: {len(names)} file operations, {len(cases)} cases", flush=True)
        logs = [Path(place) / f"log-{n}" for n in range(options.jobs)]
        workers = []
        for n, log in enumerate(logs):
            child = os.fork()
            if child == 0:
                work(campaign, cases[n :: options.jobs], log)
                os._exit(0)
            workers.append(child)
        for child in workers:
            os.waitpid(child, 0)
        rows = [line.split("\t") for log in logs for line in log.read_text().splitlines()]
    bad = [(int(number), mode, line) for mode, number, line in rows if line]
    for number, mode, line in sorted(bad):
        print(f"FAIL {title}, {mode} at {number} ({names[number - 1]}): {line}")
    failed = collections.Counter(mode for _, mode, _ in bad)
    for mode in MODES:
        print(f"    {mode:16} {failed[mode]:4d} of {sum(m == mode for m, _, _ in rows)} failed")
    lost = len(cases) - len(rows)  # a worker that died
    print(f"{time.monotonic() - begun:.0f} s")
    print(f"{len(rows) - len(bad)} passed, {len(bad) + lost} failed", flush=True)
    return len(bad) + lost
