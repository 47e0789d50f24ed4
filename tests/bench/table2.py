#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of Table 2 of Kaliappan and Bargteil 2020, with strain limits on.

    tests/bench/table2.py [--bench build-release/tests/pliant-bench] [--repeat N] [--steps N]
                          [--wall] [--only TEXT] [--out tests/bench]

One thread. A frame of 1/30 s is two steps; of several runs the one with the least median counts, by
processor time, which other programs change little, or by the clock on the wall. Writes table2.json and the
part of README.md between its two markers.
"""

import argparse
import json
import sys
from pathlib import Path

from run import HERE, bench, machine, newest_bench

BEGIN, END = "<!-- table 2: begin -->", "<!-- table 2: end -->"

ONE = ["--levels", 1]


def alone(clusters, *more):
    return [*ONE, "--clusters", clusters, "--radius", 0, *more]


# Example, row, scene, options, published milliseconds a frame.
ROWS = [
    ("falling ball", "1 cluster", "falling-ball", alone(1), 3.95),
    ("falling ball", "12 clusters", "falling-ball", alone(12), 7.93),
    ("falling ball", "101 clusters", "falling-ball", ONE, 9.50),
    ("falling ball", "3 levels", "falling-ball", [], 10.82),
    ("hovering cube", "1 cluster", "hovering-cube", alone(1), 0.24),
    ("hovering cube", "8 clusters", "hovering-cube", alone(8), 0.45),
    ("hovering cube", "66 clusters", "hovering-cube", ONE, 0.99),
    ("hovering cube", "3 levels", "hovering-cube", [], 1.27),
    ("falling bunny", "1 cluster", "falling-bunny", alone(1), 22.38),
    ("falling bunny", "330 clusters", "falling-bunny", ONE, 89.92),
    ("falling bunny", "4 levels", "falling-bunny", [], 108.92),
    ("ball and wall", "1 cluster", "ball-and-wall", alone(1), 0.64),
    ("ball and wall", "8 clusters", "ball-and-wall", alone(8), 2.93),
    ("ball and wall", "66 clusters", "ball-and-wall", ONE, 7.59),
    ("ball and wall", "3 levels", "ball-and-wall", [], 8.68),
    ("three bunnies", "206 clusters", "three-bunnies", ONE, 58.83),
    ("three bunnies", "4 levels", "three-bunnies", [], 63.90),
    ("plinko", "1 cluster", "plinko", alone(1), 5.15),
    ("plinko", "12 clusters", "plinko", alone(12), 8.56),
    ("plinko", "101 clusters", "plinko", ONE, 10.75),
    ("plinko", "3 levels", "plinko", [], 12.20),
    ("armadillo", "1 cluster", "armadillo-itself", alone(1), 235.36),
    ("armadillo", "2 clusters", "armadillo-itself", alone(2), 386.97),
    ("armadillo", "16 clusters", "armadillo-itself", alone(16), 1254.37),
    ("armadillo", "128 clusters", "armadillo-itself", alone(128), 1718.34),
    ("armadillo", "1024 clusters", "armadillo-itself", alone(1024), 1456.65),
    ("armadillo", "8192 clusters", "armadillo-itself", ONE, 1067.08),
    ("armadillo", "6 levels", "armadillo-itself", [], 1818.50),
    # section 5.2, without times of their own
    ("ball and wall", "3 levels, k_d .1", "ball-and-wall", ["--damping", 0.1], None),
    ("ball and wall", "3 levels, k_d .3", "ball-and-wall", ["--damping", 0.3], None),
    ("ball and wall", "3 levels, k_d .5", "ball-and-wall", ["--damping", 0.5], None),
]


def measure(program, repeat, steps, wall, only):
    results = []
    for example, row, scene, options, published in ROWS:
        if only and only not in f"{example} {row}":
            continue
        runs = [
            bench(
                program,
                scene,
                "--threads",
                1,
                "--steps",
                steps,
                "--warm-up",
                0,
                "--gamma",
                0.1,
                *([] if wall else ["--cpu-time"]),
                *options,
            )
            for _ in range(repeat)
        ]
        runs = [run for run in runs if run is not None]
        best = min(runs, key=lambda run: run["ms_median"]) if runs else None
        results.append({"example": example, "row": row, "published_ms": published, "run": best})
        print(example, row, 2 * best["ms_median"] if best else "failed", file=sys.stderr)
    return results


def table(results, repeat, steps, wall):
    lines = [
        f"Machine: {machine()}, one thread, {'wall' if wall else 'processor time'}, the least median of "
        f"{repeat} runs of {steps} steps, twice that for a frame.",
        "",
        "| example | row | particles | clusters | memberships | paper's ms a frame | ours | paper's / ours |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for entry in results:
        run, published = entry["run"], entry["published_ms"]
        if run is None:
            continue
        ours = 2 * run["ms_median"]
        ratio = f"{published / ours:.3g}" if published else "–"
        lines.append(
            f"| {entry['example']} | {entry['row']} | {run['particles']} | {run['clusters']} | "
            f"{run['memberships']} | {published or '–'} | {ours:.3g} | {ratio} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", type=Path, default=newest_bench())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--steps", type=int, default=240)
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    if options.bench is None:
        sys.exit("there is no pliant-bench: build it, or give --bench")
    results = measure(options.bench, options.repeat, options.steps, options.wall, options.only)
    text = table(results, options.repeat, options.steps, options.wall)
    print(text)
    if options.only:
        return
    (options.out / "table2.json").write_text(json.dumps(results, indent=1) + "\n")
    readme = options.out / "README.md"
    whole = readme.read_text()
    if BEGIN in whole:
        before, rest = whole.split(BEGIN, 1)
        readme.write_text(before + BEGIN + "\n" + text + "\n" + rest[rest.index(END) :])


if __name__ == "__main__":
    main()
