#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the seed corpus of the fuzz harnesses anew: python3 tests/fuzz/seeds.py

Every kind of scene and store without an edit and with one, every base mesh with every sampling, and
short programs of calls. Inputs are described at the top of each harness."""
import pathlib
import random

folder = pathlib.Path(__file__).parent / "corpus"
draw = random.Random(1)


def write(harness, name, data):
    (folder / harness).mkdir(parents=True, exist_ok=True)
    (folder / harness / name).write_bytes(bytes(data))


def edit(op):
    return [op] + [draw.randrange(256) for _ in range(7)]


for kind in range(18):
    write("state", f"kind-{kind:02}", [kind, kind % 4] + (edit(kind % 5) if kind % 2 else []))
for kind in range(6):
    for flags in range(4):
        edits = [draw.randrange(12)] + edit(2) if flags else []
        write("store", f"kind-{kind}-{flags}", [kind, flags] + edits)
soup = [12, 20] + [i * 7 % 6 for i in range(36)] + [i * 5 % 12 for i in range(60)]
for base in range(7):
    for mode in range(0, 5, 2):
        write("mesh", f"base-{base}-{mode}", [base] + soup * (base == 6) + [mode, 15, 0, 0])
for n in range(16):  # a body, a call, a frame, more calls
    body = [2, n % 2, 0, n]
    calls = [draw.randrange(256) for _ in range(24)]
    write("calls", f"program-{n:02}", body + calls[:6] + [1, 0, 0, 1, 1, 1] + calls)
