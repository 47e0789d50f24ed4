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


def stores(kinds):
    for kind in kinds:
        for flags in range(4):
            edits = [draw.randrange(12)] + edit(2) if flags else []
            write("store", f"kind-{kind}-{flags}", [kind, flags] + edits)


stores(range(6))
soup = [12, 20] + [i * 7 % 6 for i in range(36)] + [i * 5 % 12 for i in range(60)]
for base in range(7):
    for mode in range(0, 5, 2):
        write("mesh", f"base-{base}-{mode}", [base] + soup * (base == 6) + [mode, 15, 0, 0])
for n in range(16):  # a body, a call, a frame, more calls
    body = [2, n % 2, 0, n]
    calls = [draw.randrange(256) for _ in range(24)]
    write("calls", f"program-{n:02}", body + calls[:6] + [1, 0, 0, 1, 1, 1] + calls)

# Programs that mean something, in the encoding of calls.c. Changes of descriptors are pairs of a field's
# place in call_fields.c and a byte that makes its value.
POINTS, MESH = 1, 3  # of a body: only points, only a mesh
SAVE, RESTORE = [7, 0, 0], [7, 0, 1]


def number(value):  # fuzz_number
    return 40 + round(18 * value)


def changes(*pairs):
    return [len(pairs)] + [byte for pair in pairs for byte in pair]


def body(slot=0, how=POINTS, height=0, *pairs):
    return [2, 0, *changes(*pairs), how + 96 * height, 0, 0, slot]


def on_body(call, *arguments, slot=0, word=1):
    return [3 + 8 * call, slot, 0, word, 0, *arguments]


def collider(kind=0, *pairs):
    return [5 + 8 * kind, 0, 0, *changes(*pairs), kind, 0, *([1] if kind == 1 else []), 0]


def skin():
    return [6, 0, 0, 0, 0, 0, 0] + [6 + 32, 0, 0, 0, 0, 0]


FRAME, WATCHED_FRAME = [1, 0, 0, 0], [1, 0, 0, 1, 0]
CONTACTS, SLEEP = [64, 0, 0], [72, 0, number(10), number(0)]
FRACTURE = on_body(8, 0)
FLOW = on_body(4, *changes((15, number(0)), (16, number(11)), (21, number(1.1)), (25, 1)))
PULL = on_body(3, number(0), word=3)
programs = {
    "fall": collider() + body() + FRAME + skin() + SAVE + FRAME + RESTORE + FRAME,
    "pile": CONTACTS + body() + body(1, POINTS, 1) + collider() + FRAME + FRAME + SAVE + RESTORE + FRAME,
    "break": FRACTURE + body() + FRACTURE + PULL + FRAME + skin() + FRAME + SAVE + RESTORE + FRAME,
    "break-apart": CONTACTS + body() + FRACTURE + PULL + FRAME + FRAME + body(1) + FRAME,
    "cells": body() + on_body(8, *changes((8, 8))) + PULL + FRAME + FRAME + on_body(9) + FRAME,
    "flow": body() + FLOW + PULL + FRAME + FRAME + FRAME + SAVE + RESTORE + FRAME,
    "levels": body(0, POINTS, 0, (26, 3), (27, 2)) + PULL + FRAME + SAVE + RESTORE + FRAME,
    "levels-apart": body(0, POINTS, 0, (26, 3), (27, 2), (25, 1)) + FRAME + FRAME,
    "quadratic": body(0, POINTS, 0, (45, 2)) + PULL + FRAME + FRAME + SAVE + RESTORE,
    "linear": body(0, POINTS, 0, (45, 1)) + PULL + FRAME + FRAME,
    "limited": body(0, POINTS, 0, (42, number(0.05))) + PULL + FRAME + FRAME,
    "pressure": body(0, MESH, 0, (49, number(10))) + FRAME + FRAME + SAVE + RESTORE + FRAME,
    "inflate": body(0, MESH, 0, (49, number(10)), (50, number(2))) + FRAME + FRAME,
    "mesh-collider": CONTACTS + collider(1) + body(0, MESH) + FRAME + FRAME + SAVE + RESTORE + FRAME,
    "pins": body(0, MESH) + on_body(10) + on_body(11) + FRAME + on_body(12) + FRAME + FRAME,
    "follow": body(0, MESH) + on_body(13) + on_body(11) + FRAME + on_body(13, word=2) + FRAME,
    "field": [14, 0, 0, 0, 0] + [14, 0, 0, *changes((1, 3), (28, number(5))), 1] + body() + FRAME + FRAME,
    "weld": CONTACTS + body() + body(1, POINTS, 1) + [80, 0, *changes((2, number(2))), 0, 1, 0] + FRAME + FRAME,
    "asleep": SLEEP + CONTACTS + body() + body(1, POINTS, 1) + FRAME + FRAME + FRAME + SAVE + RESTORE,
    "watched": body() + collider() + WATCHED_FRAME + FRAME + WATCHED_FRAME + SAVE + RESTORE,
    "painted": body() + [b for f in range(8) for b in on_body(5, word=f)] + on_body(7) + PULL + FRAME + FRAME,
    "read": body() + FRACTURE + PULL + FRAME + [b for c in range(0, 40, 2) for b in on_body(2, 0, word=c)],
}
for name, program in programs.items():
    write("calls", name, program)
stores(range(6, 8))
