#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars and sheets under their own weight, over what theory says.

    tests/bench/beams.py [--only WORD] [--csv FILE] [--plot FILE.svg]

A bar of length 1 is held at one end: it hangs (stretch) or sticks out (sag). Each row changes one
setting. Stretch is over rho g L^2 / (2 E), sag over Timoshenko's beam, that of a wide sheet over
the plate's. Needs the library (PLIANT_LIBRARY) and NumPy.
"""

import argparse
import csv
import itertools
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "addon"))

import numpy as np
from solver._abi import Channel
from solver.scene import Scene

DENSITY, SOUND = 1000.0, 7.4  # kg/m3, sqrt(E / rho) in m/s
YOUNG = DENSITY * SOUND**2
HELD = 0.05
MOVED = 0.02  # of the length, by theory
RIGID, LINEAR, QUADRATIC = range(3)


def box(width, height, sheet):
    """A box from z = -1 to HELD, or the rectangle in its middle."""
    if sheet:
        v = [(x, 0, z) for x in (-width / 2, width / 2) for z in (-1, HELD)]
        return np.array(v, np.float32), np.array([(0, 1, 3), (0, 3, 2)], np.uint32)
    v = list(itertools.product((-width / 2, width / 2), (-height / 2, height / 2), (-1, HELD)))
    faces = [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (0, 5, 1),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
        (1, 5, 7),
        (1, 7, 3),
    ]
    return np.array(v, np.float32), np.array(faces, np.uint32)


def poisson(goal, beta):
    return beta / (3 - beta) if goal != RIGID else 0.0


def theory(sag, s, width, height, nu, g):
    """Displacement at distance s from the held end."""
    if not sag:
        return DENSITY * g / YOUNG * (s - s * s / 2)
    young = YOUNG / (1 - nu * nu) if width > 4 * height else YOUNG
    bend = DENSITY * g * 12 / (young * height**2) * (s**2 / 4 - s**3 / 6 + s**4 / 24)
    shear = DENSITY * g * 2 * (1 + nu) / YOUNG * 6 / 5 * (s - s * s / 2)
    return bend + shear


def measure(
    sag=False,
    slender=4.0,
    width=0.0,
    count=1000,
    goal=RIGID,
    beta=0.5,
    sheet=False,
    material=None,
    cluster=None,
    levels=None,
    hertz=False,
    patience=1.0,
):
    """How far the free end comes to rest, over theory; and the body's warnings."""
    height = 1 / slender
    width = width or height
    nu = poisson(goal, beta)
    vertices, triangles = box(width, height, sheet)
    g = MOVED / theory(sag, 1, width, height, nu, 1)
    slow = 3.516 * SOUND * height / math.sqrt(12) if sag else math.pi / 2 * SOUND
    stiffness = {"stiffness_kind": 1, "stiffness": YOUNG}
    if hertz:
        second = np.array([width**2, height**2, (1 + HELD) ** 2]) / 12
        stiffness = {
            "stiffness_kind": 0,
            "stiffness": SOUND / math.sqrt((second**2).sum() / second.sum()) / 2 / math.pi,
        }
    sample = {"count": count}
    if sheet:
        sample |= {"mode": 3, "thickness": height}
    with Scene(threads=1, gravity=(0, -g, 0) if sag else (0, 0, -g)) as scene:
        body = scene.add_body(
            vertices,
            triangles,
            sample=sample,
            cluster=cluster or {},
            levels=levels or {},
            material=dict(
                density=DENSITY,
                damping=0.5 * slow,
                drag=1.5 * slow,
                goal=goal,
                beta=beta,
                **stiffness,
                **(material or {}),
            ),
        )
        rest = body.read(Channel.REST).astype(float)
        s = np.maximum(-rest[:, 2], 0)
        body.set_pins(np.where(rest[:, 2] > 0, 1e6, 0).astype(np.float32))
        axis = 1 if sag else 2
        end = s > 0.9
        want = theory(sag, s[end], width, height, nu, g).mean()
        before, frame = 0.0, patience / slow
        substeps = scene.auto_substeps(frame, 20000)
        for look in range(40):
            scene.advance(frame, substeps=substeps)
            moved = (rest - body.positions())[end, axis].mean()
            if look > 4 and abs(moved - before) < 0.004 * want:
                break
            before = moved
        return moved / want, body.info, body.warnings


ROWS = [
    ("length / width, particles", f"{slender}, {count}", {"slender": slender, "count": count})
    for slender in (3, 5, 10, 20)
    for count in (300, 1000, 3000, 10000)
]
ROWS += [
    (
        "the same, quadratic goals",
        f"{slender}, {count}",
        {"slender": slender, "count": count, "goal": QUADRATIC, "beta": 0.3},
    )
    for slender in (3, 5, 10, 20)
    for count in (300, 1000, 3000, 10000)
]
ROWS += [("goals", f"linear {beta}", {"goal": LINEAR, "beta": beta}) for beta in (0.3, 0.5, 0.9)]
ROWS += [("goals", f"quadratic {beta}", {"goal": QUADRATIC, "beta": beta}) for beta in (0.01, 0.3, 0.5, 0.9)]
ROWS += [
    ("hertz", "rigid", {"hertz": True}),
    ("hertz", "linear .5", {"goal": LINEAR, "hertz": True}),
    ("hertz", "quadratic .5", {"goal": QUADRATIC, "hertz": True}),
]
ROWS += [
    ("kernel", name, {"cluster": {"kernel": kernel, "kernel_parameter": parameter}})
    for name, kernel, parameter in (
        ("invsq", 0, 0),
        ("box", 1, 0),
        ("poly6", 2, 0),
        ("blend", 3, 0),
        ("fcm 2", 4, 2),
        ("fcm 1.3", 4, 1.3),
        ("fcm 1.05", 4, 1.05),
    )
]
ROWS += [("algorithm", name, {"cluster": {"algorithm": k}}) for k, name in enumerate(("fuzzy", "k-means", "random"))]
ROWS += [("memberships", str(n), {"cluster": {"overlap": n}}) for n in (2, 3, 5, 8)]
ROWS += [
    ("levels", f"{n} {name}", {"levels": {"count": n, "weighting": w, "favour_fine": f}})
    for n in (2, 3)
    for name, w, f in (("uniform", 0, 0), ("fine", 2, 1), ("coarse", 2, 0))
]
ROWS += [
    (
        "sheet, thickness",
        f"1/{round(1 / t)}, {name}",
        {"slender": 1 / t, "width": 0.5, "sheet": True, "count": 2000, "goal": goal, "beta": 0.3},
    )
    for name, goal in (("rigid", RIGID), ("quadratic", QUADRATIC))
    for t in (0.05, 0.02, 0.01, 0.005)
]
ROWS += [
    (
        "plate, thickness",
        f"1/{round(1 / t)}, {name}",
        {"slender": 1 / t, "width": 0.5, "count": 2000, "goal": goal, "beta": 0.3},
    )
    for name, goal in (("rigid", RIGID), ("quadratic", QUADRATIC))
    for t in (0.1, 0.05, 0.02)
]


def plot(rows, path):
    """Both ratios of each row on a logarithmic axis, as SVG."""
    left, right, top, step, low, high = 230, 560, 40, 15, 0.05, 8.0

    def across(ratio):
        ratio = min(max(ratio, low), high)
        return left + (right - left) * math.log(ratio / low) / math.log(high / low)

    bottom = top + step * len(rows)
    marks = [
        f'<rect x="{across(0.85):.1f}" y="{top}" width="{across(1.15) - across(0.85):.1f}" '
        f'height="{bottom - top}" fill="#dbe7f3"/>'
    ]
    for tick in (0.05, 0.1, 0.2, 0.5, 1, 2, 5):
        x = across(tick)
        marks.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="{"#000" if tick == 1 else "#ccc"}"/>'
        )
        marks.append(f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>')
    for n, (axis, value, *ratios) in enumerate(rows):
        y = top + step * (n + 0.5)
        marks.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{axis}: {value}</text>')
        for ratio, colour in zip(ratios, ("#1f77b4", "#ff7f0e")):
            marks.append(f'<circle cx="{across(ratio):.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
    marks.append(
        f'<text x="{left}" y="16" fill="#1f77b4">stretch</text><text x="{left + 60}" y="16" fill="#ff7f0e">sag</text>'
        f'<text x="{left + 100}" y="16">over theory; the band is 15 %</text>'
    )
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right + 20}" height="{bottom + 24}" '
        f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
        + "\n".join(marks)
        + "</svg>\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    parser.add_argument("--most", type=int, default=30000, help="leave out rows with more particles")
    parser.add_argument("--csv", type=Path, help="write the rows there as well, or read them for --plot")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--read", action="store_true", help="plot what --csv holds")
    arguments = parser.parse_args()
    rows = []
    if arguments.read:
        with open(arguments.csv, newline="") as file:
            rows = [(a, v, float(x), float(y)) for a, v, x, y in csv.reader(file)]
    else:
        print("| what changes | to | stretch | sag | warnings |\n|---|---|---|---|---|")
        for axis, value, settings in ROWS:
            if arguments.only not in f"{axis}: {value}" or settings.get("count", 0) > arguments.most:
                continue
            stretch, _, warnings = measure(False, **settings)
            sag, _, _ = measure(True, **settings)
            told = [text.split(":")[0] for text in warnings if "bends less" in text or "uncertain" in text]
            print(f"| {axis} | {value} | {stretch:.2f} | {sag:.2f} | {'; '.join(told)} |", flush=True)
            rows.append((axis, value, stretch, sag))
        if arguments.csv:
            with open(arguments.csv, "w", newline="") as file:
                csv.writer(file).writerows(rows)
    if arguments.plot:
        plot(rows, arguments.plot)


if __name__ == "__main__":
    main()
