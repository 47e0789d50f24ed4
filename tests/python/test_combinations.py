# SPDX-License-Identifier: GPL-3.0-or-later
"""Every pair of features either simulates or is refused before the first frame, with a sentence."""

import itertools
import math
import random
import sys
import unittest
from pathlib import Path

import support  # noqa: F401 - finds the library
from addon.solver import Goal, LevelKind, PliantError, Recluster, Scene, Shape

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import shapes

FRAMES = 30
FEATURES = {
    "pressure": (0.0, 2000.0),
    "yield": (math.inf, 0.02),
    "recluster": (Recluster.OFF, Recluster.ON),
    "resample": (0, 1),
    "toughness": (None, 0.01, 0.2),
    "cells": (0, 6),
    "goal": tuple(Goal),
    "levels": ((LevelKind.NESTED, 1), (LevelKind.NESTED, 2), (LevelKind.INDEPENDENT, 2)),
    "strain_limit": (0.0, 0.1),
    "contacts": (False, True),
    "sleep": (False, True),
    "pins": (False, True),
    "late": (None, "pressure", "resample", "toughness"),  # switched on at frame 10
}


def cover():
    """Rows that hold each pair of values of two features at least once."""
    names = list(FEATURES)
    wanted = {(a, x, b, y) for a, b in itertools.combinations(names, 2) for x in FEATURES[a] for y in FEATURES[b]}
    rng = random.Random(1)
    rows = []
    while wanted:
        best, held = None, set()
        a, x, b, y = min(wanted, key=repr)
        for _ in range(40):
            row = {name: rng.choice(values) for name, values in FEATURES.items()} | {a: x, b: y}
            found = {(p, row[p], q, row[q]) for p, q in itertools.combinations(names, 2)} & wanted
            if len(found) > len(held):
                best, held = row, found
        rows.append(best)
        wanted -= held
    return rows


class Combinations(unittest.TestCase):
    vertices, triangles = shapes.bumpy(size=(0.5, 0.5, 0.5))

    def simulate(self, row):
        """None, or the sentence that refused it and the frame before which it did."""
        frame = 0
        material = {
            "stiffness": 6.0,
            "goal": row["goal"],
            "yield": row["yield"],
            "flow": 20.0,
            "recluster": row["recluster"],
            "recluster_condition": 1.2,
            "resample": row["resample"],
            "pressure": row["pressure"],
            "strain_limit": row["strain_limit"],
        }
        kind, levels = row["levels"]
        vertices = self.vertices.copy()
        vertices[:, 2] += 0.6
        with Scene(threads=1) as scene:
            try:
                body = scene.add_body(
                    vertices,
                    self.triangles,
                    sample={"count": 120},
                    levels={"kind": kind, "count": levels},
                    material=material,
                )
                if row["toughness"] is not None:
                    body.set_fracture(toughness=row["toughness"], cells=row["cells"])
                scene.add_collider(Shape.PLANE, friction=0.6)
                if row["contacts"]:
                    scene.set_contacts(enabled=1)
                    body.set_contacts(1, True)
                if row["sleep"]:
                    scene.set_sleep(0.01, 0.5)
            except PliantError as error:
                return str(error), 0
            for frame in range(1, FRAMES + 1):
                if frame == 10 and row["late"]:
                    try:
                        self.switch_on(body, row["late"], material)
                    except PliantError as error:
                        self.assertGreater(len(str(error)), 20)
                scene.advance(dt=1 / 24)
        return None

    @staticmethod
    def switch_on(body, what, material):
        if what == "toughness":
            body.set_fracture(toughness=0.01)
        else:
            body.set_material(**material | {what: 2000.0 if what == "pressure" else 1})

    def test_simulates_or_is_refused_before_the_first_frame(self):
        refused = 0
        for row in cover():
            with self.subTest(**{k: str(v) for k, v in row.items()}):
                found = self.simulate(row)
                if found is not None:
                    refused += 1
                    self.assertGreater(len(found[0]), 20)
        self.assertGreater(refused, 3)

    def test_fragments_of_one_particle_stay_in_the_range_of_numbers(self):
        """Such a fragment in two clusters had an angular velocity of rounding error over rounding error."""
        vertices = self.vertices.copy()
        vertices[:, 2] += 0.6
        material = {"stiffness": 7.705608976723296, "strain_limit": 0.05, "beta": 0.8}
        with Scene(threads=1) as scene:
            body = scene.add_body(
                vertices, self.triangles, sample={"count": 339, "seed": 986}, levels={"count": 1}, material=material
            )
            body.set_fracture(toughness=0.01)
            scene.add_collider(Shape.PLANE, friction=0.6)
            scene.set_contacts(enabled=1)
            body.set_contacts(1, True)
            for _ in range(FRAMES):
                scene.advance(dt=1 / 24)

    def test_body_that_was_under_pressure_never_breaks(self):
        with Scene(threads=1) as scene:
            body = scene.add_body(self.vertices, self.triangles, sample={"count": 120}, material={"pressure": 2000.0})
            with self.assertRaisesRegex(PliantError, "pressure 0 for it to break"):
                body.set_fracture(toughness=0.01)
            body.set_material(pressure=0.0)
            with self.assertRaisesRegex(PliantError, "pressure 0 for it to break"):
                body.set_fracture(toughness=0.01)
            other = scene.add_body(self.vertices, self.triangles, sample={"count": 120})
            other.set_fracture(toughness=0.01)
            with self.assertRaisesRegex(PliantError, "pressure is 2000, set it to 0"):
                other.set_material(pressure=2000.0)


if __name__ == "__main__":
    unittest.main()
