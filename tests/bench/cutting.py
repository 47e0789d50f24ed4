# SPDX-License-Identifier: GPL-3.0-or-later
"""How long it takes to cut a mesh along its cracks.

    python tests/bench/cutting.py [--faces 100000] [--fragments 100] [--pattern] [--profile]

A box of quads, filled with 7,500 particles of which those in different Voronoi cells have parted; detail and
grain are those of a new body. --pattern: the cells are a pattern cut beforehand, with flat faces. No
library, no Blender: NumPy and manifold3d. The run with the least processor time of three counts.
"""

import argparse
import cProfile
import json
import math
import pstats
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from fracture_scene import between, box, cloud, open_edges, particles, volumes, voronoi

from addon.fracture import Look, break_mesh

SIZE, SPACING = np.array([1.0, 0.8, 0.6]), 0.04


def made(options):
    seeds = np.random.default_rng(3).uniform(0, 1, (options.fragments, 3)) * SIZE
    given = particles(cloud(SIZE, SPACING), SPACING, between(voronoi(seeds)))
    if options.pattern:
        given.cell_point = seeds
    sides = SIZE[0] * SIZE[1] + SIZE[1] * SIZE[2] + SIZE[2] * SIZE[0]
    along = math.sqrt(options.faces / 2 / sides)
    return box(SIZE, np.round(SIZE * along).astype(int)), given


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faces", type=int, default=100_000)
    parser.add_argument("--fragments", type=int, default=100)
    parser.add_argument("--pattern", action="store_true")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    best = None
    for _ in range(1 if options.profile else 3):
        surface, given = made(options)
        profile = cProfile.Profile()
        if options.profile:
            profile.enable()
        wall, processor = time.perf_counter(), time.process_time()
        broken = break_mesh(surface, given, Look(uv_layers=("uv",), roughness=0.15, grain=0.7))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        profile.disable()
        best = min(best or (processor, wall), (processor, wall))
    if options.profile:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(30)
    pieces = int(broken.piece.max()) + 1
    parts = volumes(broken.surface, broken.face_piece, pieces)
    print(
        json.dumps(
            {
                "faces": len(surface.face_start) - 1,
                "particles": len(given.rest),
                "pieces": pieces,
                "faces_after": len(broken.inside),
                "inside": int(broken.inside.sum()),
                "open_edges": open_edges(broken.surface),
                "volume_error": abs(parts.sum() / SIZE.prod() - 1),
                "processor_s": round(best[0], 2),
                "wall_s": round(best[1], 2),
            }
        )
    )


if __name__ == "__main__":
    main()
