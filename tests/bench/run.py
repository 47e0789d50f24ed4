#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs pliant-bench over its scenes and writes the tables of tests/bench/README.md.

    tests/bench/run.py [--bench build-release/tests/pliant-bench] [--quick] [--repeat N]
                       [--out tests/bench]

Writes results.json (all that was measured), the part of README.md between its two markers, and, where
matplotlib can be imported, scaling.png (cost against particles). --quick takes fewer steps and stops
the scaling at 250,000 particles.
"""

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

# The authors' own code, ms a step (one thread, five passes): the data set's README.
AUTHORS_MS = {"beam": 4.0, "ball": 2.9, "bunny": 24.1, "cube125k": 237.0}
ROWS = ["beam", "ball", "bunny", "cube125k"]
LEVELS = [("ball", "ball-levels"), ("bunny", "bunny-levels"), ("armadillo", "armadillo-levels")]


# The papers' examples, and the ms a frame of 1/30 s with all levels that Kaliappan and Bargteil 2020
# give in Table 2.
SCENES = {
    "stretched-cube": None,
    "falling-ball": 10.82,
    "hovering-cube": 1.27,
    "falling-bunny": 108.92,
    "plinko": 12.20,
    "falling-armadillo": 1818.50,
}

# Bodies that touch each other or colliders, beside the oracle that asks every pair.
CONTACTS = ["four-bunnies", "forty-balls", "sheet", "squeeze", "rain", "plinko"]


def bench(program, *arguments):
    command = [str(program), *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def best(program, repeat, *arguments):
    """The run with the least time of several: whoever shares the machine comes and goes."""
    runs = [bench(program, *arguments) for _ in range(repeat)]
    runs = [run for run in runs if run is not None]
    return min(runs, key=lambda run: run["ms_min"]) if runs else None


def newest_bench():
    built = [ROOT / name / "tests" / "pliant-bench" for name in ("build-release", "build")]
    built = [path for path in built if path.exists()]
    return max(built, key=lambda path: path.stat().st_mtime) if built else None


def machine():
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return name


def measure(program, quick, repeat):
    steps = 30 if quick else 100
    results = {
        "machine": machine(),
        "repeat": repeat,
        "rows": {},
        "levels": {},
        "scenes": {},
        "rotation": None,
        "cluster": None,
        "sample": None,
        "scaling": {},
    }
    for name in ROWS:
        row = {}
        for threads in (1, 2):
            compare = ["--compare"] if threads == 1 else []
            for kind, options in (("idle", []), ("violated", ["--violate"])):
                row[f"{kind}-{threads}"] = best(
                    program, repeat, name, "--threads", threads, "--steps", steps, *options, *compare
                )
        results["rows"][name] = row
        print(f"{name} done", file=sys.stderr)
    for plain, levels in LEVELS:
        row = {}
        for threads in (1, 2):
            for kind, name, options in (
                ("one", plain, []),
                ("nested", levels, []),
                ("independent", levels, ["--level-kind", "independent"]),
            ):
                row[f"{kind}-{threads}"] = best(
                    program, repeat, name, "--threads", threads, "--steps", steps, "--gamma", 0, *options
                )
        results["levels"][levels] = row
        print(f"{levels} done", file=sys.stderr)
    for name in SCENES:
        results["scenes"][name] = [
            best(program, repeat, name, "--threads", threads, "--steps", steps) for threads in (1, 2)
        ]
        print(f"{name} done", file=sys.stderr)
    results["contacts"] = {}
    for name in CONTACTS:
        results["contacts"][name] = best(program, repeat, name, "--steps", steps, "--compare")
        print(f"{name} beside brute force done", file=sys.stderr)
    results["rotation"] = bench(program, "rotation")
    results["cluster"] = bench(program, "cluster")
    results["sample"] = bench(program, "sample")
    largest = 250000 if quick else 4000000
    for threads in (1, 2):
        results["scaling"][threads] = bench(program, "scaling", "--threads", threads, "--max-particles", largest)
    return results


def figure(value, digits=3):
    return "–" if value is None else f"{value:.{digits}g}"


def get(result, name):
    return None if result is None else result.get(name)


def over(a, b):
    return None if a is None or b is None or b == 0 else a / b


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def step_table(results):
    rows = []
    for name in ROWS:
        for kind in ("idle", "violated"):
            one, two = results["rows"][name][f"{kind}-1"], results["rows"][name][f"{kind}-2"]
            ms = get(one, "ms_min")
            authors = AUTHORS_MS[name] if kind == "idle" else None
            rows.append(
                [
                    name + (" (generated)" if get(one, "generated") else ""),
                    kind,
                    str(get(one, "particles")),
                    str(get(one, "clusters")),
                    str(get(one, "memberships")),
                    figure(get(one, "violated")),
                    figure(get(one, "passes"), 2),
                    figure(ms),
                    figure(get(two, "ms_min")),
                    figure(over(ms, get(two, "ms_min"))),
                    figure(get(one, "ns_per_membership_pass")),
                    figure(get(one, "oracle_ms")),
                    figure(get(one, "oracle_ns_per_membership_pass")),
                    figure(get(one, "ratio")),
                    figure(over(authors, ms)),
                    "yes" if one and two and one["hash"] == two["hash"] else "NO",
                ]
            )
    return table(
        [
            "scene",
            "limits",
            "particles",
            "clusters",
            "memberships",
            "violated",
            "passes",
            "ms, 1 thread",
            "2 threads",
            "gain",
            "ns a membership-pass",
            "oracle ms",
            "its ns a pass",
            "ratio",
            "authors' / ours",
            "same hash",
        ],
        rows,
    )


def level_table(results):
    rows = []
    for name, row in results["levels"].items():
        for threads in (1, 2):
            one = row[f"one-{threads}"]
            cells = [name, str(threads), str(get(row[f"nested-{threads}"], "clusters"))]
            cells.append(figure(get(one, "ms_min")))
            for kind in ("nested", "independent"):
                ms = get(row[f"{kind}-{threads}"], "ms_min")
                more = over(ms, get(one, "ms_min"))
                cells += [figure(ms), "–" if more is None else f"{100 * (more - 1):+.0f} %"]
            rows.append(cells)
    return table(
        ["scene", "threads", "levels", "finest alone, ms", "nested, ms", "more", "independent, ms", "more"], rows
    )


def scene_table(results):
    rows = []
    for name, (one, two) in results.get("scenes", {}).items():
        ms, paper = get(one, "ms_median"), SCENES.get(name)
        rows.append(
            [
                name + (" (generated)" if get(one, "generated") else ""),
                str(get(one, "particles")),
                str(get(one, "clusters")),
                str(get(one, "memberships")),
                figure(get(one, "ms_min")),
                figure(ms),
                figure(get(two, "ms_median")),
                figure(one["stage_ms"]["contact"] if one else None),
                figure(paper, 4),
                figure(over(paper, 2 * ms if ms else None)),
                "yes" if one and two and one["hash"] == two["hash"] else "NO",
            ]
        )
    return table(
        [
            "scene",
            "particles",
            "levels",
            "memberships",
            "ms at least",
            "median",
            "median, 2 threads",
            "of which contact, mean",
            "paper's ms a frame",
            "paper's / ours",
            "same hash",
        ],
        rows,
    )


def contact_table(results):
    rows = [
        [
            name,
            str(get(row, "bodies")),
            str(get(row, "particles_in_all")),
            figure(get(row, "ms_min")),
            figure(get(row, "ms_mean")),
            figure(row["stage_ms"]["contact"] if row else None),
            figure(get(row, "oracle_ms")),
            figure(get(row, "ratio")),
            figure(get(row, "ratio_of_sums")),
        ]
        for name, row in results.get("contacts", {}).items()
    ]
    return table(
        [
            "scene",
            "bodies",
            "particles",
            "ms at least",
            "mean",
            "of which contact, mean",
            "oracle ms at least",
            "ratio of the least",
            "of all steps",
        ],
        rows,
    )


def scaling_table(results):
    one = get(results["scaling"].get(1), "sizes") or []
    two = {s["particles"]: s for s in get(results["scaling"].get(2), "sizes") or []}
    rows = [
        [
            f"{s['particles']:,}",
            f"{s['clusters']:,}",
            figure(s["memberships_a_particle"]),
            figure(s["ns_per_particle"]),
            figure(get(two.get(s["particles"]), "ns_per_particle")),
            figure(s["bytes_per_particle"]),
            figure(s["cluster_ms"], 4),
        ]
        for s in one
    ]
    return table(
        [
            "particles",
            "clusters",
            "memberships",
            "ns a particle, 1 thread",
            "2 threads",
            "bytes a particle",
            "clustering, ms",
        ],
        rows,
    )


def scaling_note(results):
    """Where the sizes were measured, if that was not where the rest was."""
    where = results.get("scaling_machine")
    return f"Measured earlier, on: {where}.\n\n" if where else ""


def other_lines(results):
    lines = []
    rotation = results["rotation"]
    if rotation:
        rows = [
            [p["simd"]] + [figure(p[k]) for k in ("near_rotations", "random", "inverted", "flat")]
            for p in rotation["paths"]
        ]
        lines.append(table(["rotations, ns", "near a rotation", "random", "inverted", "flat"], rows))
    cluster, sample = results["cluster"], results["sample"]
    if cluster:
        lines.append(
            f"Clustering {cluster['particles']:,} particles into {cluster['clusters']:,} "
            f"fuzzy clusters: {figure(cluster['cluster_ms'], 4)} ms, "
            f"{cluster['iterations']} iterations, one thread.\n"
        )
    if sample:
        lines.append(
            f"Sampling {sample['particles']:,} blue-noise particles: {figure(sample['sample_ms'], 4)} ms, one thread.\n"
        )
    return "\n".join(lines)


def plot(results, path):
    try:
        import matplotlib
    except ImportError:
        print("no matplotlib: no plot", file=sys.stderr)
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.figure(figsize=(7, 4.5))
    for threads, mark in ((1, "o-"), (2, "s--")):
        sizes = get(results["scaling"].get(threads), "sizes") or []
        pyplot.plot(
            [s["particles"] for s in sizes],
            [s["ns_per_particle"] for s in sizes],
            mark,
            label=f"{threads} thread" + ("s" if threads > 1 else ""),
        )
    pyplot.xscale("log")
    pyplot.ylim(bottom=0)
    pyplot.xlabel("particles (jittered cube, 15 particles a cluster)")
    pyplot.ylabel("ns a particle a step")
    pyplot.title("Cost of a step against size, strain limits idle")
    pyplot.grid(alpha=0.3)
    pyplot.legend()
    pyplot.tight_layout()
    pyplot.savefig(path, dpi=120)
    return True


def write_readme(path, results, plotted):
    text = path.read_text()
    head, rest = text.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    repeat = results.get("repeat", 1)
    chosen = (
        ""
        if repeat == 1
        else (
            " Each row of the first three tables is the run with the least "
            f"time of {repeat}; its ratio is that run's own."
        )
    )
    parts = [
        f"Machine: {results['machine']}.{chosen}\n",
        "### A step\n",
        step_table(results),
        "### Levels (without strain limits)\n",
        level_table(results),
        "### The papers' scenes (a frame of 1/30 s is two steps)\n",
        scene_table(results),
        "### Size\n",
        scaling_note(results) + scaling_table(results),
    ]
    if results.get("contacts"):
        parts[-2:-2] = ["### Contacts beside brute force\n", contact_table(results)]
    if plotted:
        parts.append("![cost against particles](scaling.png)\n")
    parts += ["### Set-up and rotations\n", other_lines(results)]
    path.write_text(head + BEGIN + "\n" + "\n".join(parts) + END + tail)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--bench", type=Path, default=newest_bench(), help="the program; otherwise the newest of the build folders"
    )
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--repeat", type=int, default=1, help="runs of each scene, of which the one with the least time counts"
    )
    parser.add_argument("--from-results", action="store_true", help="write the tables again from results.json")
    options = parser.parse_args()
    if not options.bench and not options.from_results:
        parser.error("pliant-bench is not built")
    store = options.out / "results.json"
    if options.from_results:
        results = json.loads(store.read_text())
        results["scaling"] = {int(k): v for k, v in results["scaling"].items()}
    else:
        results = measure(options.bench, options.quick, options.repeat)
        store.write_text(json.dumps(results, indent=1) + "\n")
    plotted = plot(results, options.out / "scaling.png")
    readme = options.out / "README.md"
    if not readme.exists():
        readme.write_text((HERE / "README.md").read_text())
    write_readme(readme, results, plotted or (options.out / "scaling.png").exists())


if __name__ == "__main__":
    main()
