#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a table and a plot of the bars that tests/native/dynamics/test_material_bars.c measures.

    tests/bench/hanging_bar.py [--tests build/tests/pliant-tests] [--out tests/bench]

Runs those tests and writes hanging-bar.md and, where matplotlib can be imported, hanging-bar.png.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COLUMNS = ["what", "axis", "value", "particles", "clusters", "overlap", "levels", "substeps", "moved", "predicted"]
TESTS = ["test_material_bars.c:a_hanging_bar_stretches", "test_material_bars.c:a_cantilever"]

INTRODUCTION = """# Bars under their own weight

A bar of length 1 and thickness 1/4, held at one end: it hangs, or it sticks out. Common case: {particles} particles in
200 clusters, five memberships a particle, inverse-square kernel, one level, automatic substeps (frames of 1/300 s).
Each row changes one thing. Both are over what the theory of slender bars says: a stretch of rho g L / (2 E) = .09,
a sag of rho g A L^3 / (8 E I) = .15. Made by `tests/bench/hanging_bar.py` from what
`tests/native/dynamics/test_material_bars.c` checks: the stretch within 15 % (35 % with levels); the sag, which is
smaller for clusters about as large as the bar is thick, alike within 15 %.

![stretch of the hanging bar](hanging-bar.png)

"""


def measure(tests):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bars.csv"
        done = subprocess.run([str(tests), *TESTS], env={**os.environ, "PLIANT_BARS_CSV": str(path)})
        with open(path, newline="") as file:
            rows = [dict(zip(COLUMNS, line)) for line in csv.reader(file)]
    for row in rows:
        row["ratio"] = float(row["moved"]) / float(row["predicted"])
    return rows, done.returncode


def table(rows):
    sags = {(row["axis"], row["value"]): row["ratio"] for row in rows if row["what"] == "sag"}
    lines = [
        "| what changes | to | particles | clusters | memberships | levels | substeps | stretch | "
        "over theory | sag over theory |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row["what"] != "stretch":
            continue
        sag = sags.get((row["axis"], row["value"]))
        lines.append(
            f"| {row['axis']} | {row['value']} | {row['particles']} | {row['clusters']} | {row['overlap']} "
            f"| {row['levels']} | {row['substeps']} | {float(row['moved']):.4f} | {row['ratio']:.3f} "
            f"| {'' if sag is None else format(sag, '.3f')} |"
        )
    return "\n".join(lines) + "\n"


def plot(rows, path):
    try:
        import matplotlib
    except ImportError:
        print("no matplotlib: no plot", file=sys.stderr)
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 3.6), dpi=80)
    ticks, names, at = [], [], 0
    for axis in dict.fromkeys(row["axis"] for row in rows):
        start = at
        for what, colour, marker in (("stretch", "tab:blue", "o"), ("sag", "tab:orange", "s")):
            found = [row for row in rows if row["axis"] == axis and row["what"] == what]
            axes.plot(
                range(start, start + len(found)),
                [row["ratio"] for row in found],
                marker=marker,
                color=colour,
                linewidth=1,
                markersize=4,
                label=what if start == 0 else None,
            )
            if what == "stretch":
                ticks += range(start, start + len(found))
                names += [row["value"] for row in found]
                axes.text(start + (len(found) - 1) / 2, 1.42, axis, ha="center", fontsize=9)
                at = start + len(found) + 1
    axes.axhspan(0.85, 1.15, color="tab:blue", alpha=0.1)
    axes.axhline(1, color="black", linewidth=0.6)
    axes.set_ylim(0.55, 1.5)
    axes.set_xticks(ticks, names, rotation=60, ha="right", fontsize=8)
    axes.set_ylabel("over theory")
    axes.legend(loc="lower left", fontsize=8)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=Path, default=ROOT / "build" / "tests" / "pliant-tests")
    parser.add_argument("--out", type=Path, default=HERE)
    arguments = parser.parse_args()
    rows, status = measure(arguments.tests)
    common = next(row for row in rows if row["axis"] == "clusters" and row["value"] == "200")
    text = INTRODUCTION.format(particles=f"{int(common['particles']):,}") + table(rows)
    (arguments.out / "hanging-bar.md").write_text(text)
    plot(rows, arguments.out / "hanging-bar.png")
    return status


if __name__ == "__main__":
    sys.exit(main())
