# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's output, and equal hashes for every configuration. Never a time."""

import importlib.util
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ROOT


def find_bench():
    """Beside the library under test, or in the newest build folder."""
    library = os.environ.get("PLIANT_LIBRARY")
    if library:
        return Path(library).resolve().parents[1] / "tests" / "pliant-bench"
    built = [ROOT / name / "tests" / "pliant-bench" for name in ("build-release", "build")]
    built = [path for path in built if path.exists()]
    return max(built, key=lambda path: path.stat().st_mtime) if built else None


BENCH = find_bench()


@unittest.skipUnless(BENCH and BENCH.exists(), "pliant-bench is not built")
class Bench(unittest.TestCase):
    def bench(self, *arguments, code=0):
        done = subprocess.run([str(BENCH), *map(str, arguments), "--json"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout) if code == 0 else done.stderr

    def test_a_scene_gives_every_field(self):
        result = self.bench("beam", "--steps", 3, "--warm-up", 2, "--compare")
        for name in (
            "scene",
            "particles",
            "clusters",
            "memberships",
            "threads",
            "simd",
            "cluster_ms",
            "ms_min",
            "ms_median",
            "ns_per_membership_pass",
            "stage_ms",
            "violated",
            "bytes",
            "hash",
            "oracle_ms",
            "ratio",
            "oracle_ns_per_membership_pass",
        ):
            self.assertIn(name, result)
        self.assertEqual(result["particles"], 5317)
        self.assertEqual(result["clusters"][0], 200)
        self.assertEqual(result["violated"], 0)
        self.assertEqual(result["passes"], 2)  # one match, one look that finds nothing
        self.assertGreater(result["ms_median"], 0)
        self.assertLess(result["difference_after_one_step"], 1e-4)

    def test_violate_violates_most_pairs_in_every_iteration(self):
        result = self.bench("ball", "--steps", 4, "--violate", "--compare")
        self.assertEqual(result["passes"], 5)
        self.assertGreater(result["violated"], 0.5)
        self.assertGreater(result["oracle_violated_each_iteration"], 0.5)
        self.assertLess(result["difference_after_one_step"], 1e-4)

    def test_a_body_that_breaks_tells_how(self):
        result = self.bench("breaking-beam", "--steps", 4, "--compare")
        self.assertEqual(result["particles"] > 5317, True)  # copies
        self.assertGreater(result["splits"], 5)
        self.assertGreaterEqual(result["pieces"], 1)
        self.assertGreater(result["updates_max"], 0)
        self.assertGreater(result["oracle_splits"], 5)
        self.assertGreater(result["ratio_of_means"], 0)
        self.assertLess(result["difference_after_one_step"], 1e-4)

    def test_bodies_of_several_kinds_touch_each_other_and_colliders(self):
        """What the oracle finds by brute force is about what the library does."""
        sheet = self.bench("sheet", "--warm-up", 12, "--steps", 2, "--compare")
        self.assertEqual((sheet["bodies"], sheet["particles"], sheet["particles_in_all"]), (2, 5325, 6825))
        self.assertGreater(sheet["contacts"], 20)
        self.assertGreater(sheet["ratio_of_sums"], 0)
        squeeze = self.bench("squeeze", "--warm-up", 20, "--steps", 3, "--compare")
        self.assertGreater(squeeze["contacts"], 200)
        self.assertLess(abs(squeeze["oracle_touched"] - squeeze["contacts"]), 0.2 * squeeze["contacts"])
        rain = [
            self.bench("rain", "--warm-up", 30, "--steps", 2, "--threads", threads, *compare)
            for threads, compare in ((1, ["--compare"]), (2, []))
        ]
        self.assertEqual((rain[0]["bodies"], rain[0]["particles_in_all"]), (40, 10010))
        self.assertGreater(rain[0]["contacts"], 100)
        self.assertGreater(rain[0]["mesh_triangles"], 100)
        self.assertGreater(rain[0]["oracle_touched"], 20)
        self.assertEqual(rain[0]["hash"], rain[1]["hash"])

    def test_threads_and_paths_give_the_same_hash(self):
        options = ["ball-levels", "--steps", 3, "--gamma", 1e-3]
        hashes = {
            self.bench(*options, "--threads", threads, "--simd", simd)["hash"]
            for threads, simd in ((1, "auto"), (2, "auto"), (3, "scalar"))
        }
        self.assertEqual(len(hashes), 1)

    def test_options_reach_the_body(self):
        result = self.bench(
            "beam",
            "--clusters",
            50,
            "--radius",
            0.2,
            "--kernel",
            "poly6",
            "--levels",
            2,
            "--level-kind",
            "independent",
            "--young",
            2e4,
            "--gamma",
            0,
            "--steps",
            2,
        )
        self.assertEqual(len(result["clusters"]), 2)
        self.assertEqual(result["clusters"][0], 50)
        self.assertEqual(result["radius"], 0.2)
        self.assertEqual(result["passes"] > 1, True)

    def test_a_particle_file_is_a_scene(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "grid.txt"
            path.write_text("".join(f"{x} {y} {z}\n" for x in range(6) for y in range(6) for z in range(6)))
            result = self.bench("--particles", path, "--clusters", 4, "--radius", 5, "--steps", 2)
            self.assertEqual(result["particles"], 216)

    def test_without_the_published_points_others_stand_in(self):
        done = subprocess.run(
            [str(BENCH), "ball", "--steps", "2", "--json"],
            capture_output=True,
            text=True,
            env={**os.environ, "PLIANT_SHARED": "/nowhere"},
        )
        result = json.loads(done.stdout)
        self.assertTrue(result["generated"])
        self.assertEqual(result["particles"], 5098)

    def test_mistakes_are_named(self):
        for arguments, word in (
            (["no-such-scene"], "no-such-scene"),
            (["--what"], "--what"),
            (["ball", "--alpha", "much"], "much"),
            (["ball", "--simd", "mmx"], "mmx"),
        ):
            self.assertIn(word, self.bench(*arguments, code=2))

    def test_rotations_are_timed_on_every_path(self):
        paths = {path["simd"]: path for path in self.bench("rotation")["paths"]}
        self.assertIn("scalar", paths)
        for path in paths.values():
            self.assertGreater(path["near_rotations"], 0)


class Tables(unittest.TestCase):
    def test_tables_are_written_from_what_was_measured(self):
        spec = importlib.util.spec_from_file_location("bench_run", ROOT / "tests/bench/run.py")
        run = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(run)
        step = {
            "particles": 7,
            "clusters": [3],
            "memberships": 21,
            "violated": 0,
            "passes": 2,
            "ms_min": 2.0,
            "hash": "x",
            "oracle_ms": 22.0,
            "ratio": 11.0,
            "ns_per_membership_pass": 1.5,
            "oracle_ns_per_membership_pass": 20.0,
        }
        kinds = ("one", "nested", "independent")
        results = {
            "machine": "a machine",
            "rotation": None,
            "cluster": None,
            "sample": None,
            "rows": {
                name: {
                    f"{kind}-{threads}": dict(step, ms_min=2.0 / threads)
                    for kind in ("idle", "violated")
                    for threads in (1, 2)
                }
                for name in run.ROWS
            },
            "levels": {"ball-levels": {f"{kind}-{threads}": dict(step) for kind in kinds for threads in (1, 2)}},
            "scaling": {
                1: {
                    "sizes": [
                        {
                            "particles": 31250,
                            "clusters": 2048,
                            "memberships_a_particle": 5.8,
                            "ns_per_particle": 30.0,
                            "bytes_per_particle": 200.0,
                            "cluster_ms": 400.0,
                        }
                    ]
                },
                2: None,
            },
            "contacts": {
                "rain": {
                    "bodies": 40,
                    "particles_in_all": 10010,
                    "ms_min": 2.5,
                    "ms_mean": 5.0,
                    "stage_ms": {"contact": 4.0},
                    "oracle_ms": 110.0,
                    "ratio": 44.0,
                    "ratio_of_sums": 22.0,
                }
            },
        }
        with tempfile.TemporaryDirectory() as folder:
            readme = Path(folder) / "README.md"
            readme.write_text(f"above\n{run.BEGIN}\nold\n{run.END}\nbelow\n")
            run.write_readme(readme, results, False)
            text = readme.read_text()
        self.assertTrue(text.startswith("above\n") and text.endswith("below\n"))
        self.assertNotIn("\nold\n", text)
        self.assertIn("| bunny | idle | 7 | [3] | 21 | 0 | 2 | 2 | 1 | 2 | 1.5 | 22 | 20 | 11 | 12", text)
        self.assertIn("| rain | 40 | 10010 | 2.5 | 5 | 4 | 110 | 44 | 22 |", text)
        self.assertIn("| 31,250 | 2,048 | 5.8 | 30 | – | 200 | 400 |", text)


if __name__ == "__main__":
    unittest.main()
