#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drops a soft, bumpy body on a cylinder; it bends over it, slides off and comes to rest on the floor.

    python examples/drop.py [--out FOLDER] [--frames N] [--particles N] [--width PIXELS]

Writes drop_0000.ply, drop_0001.ply, ... (any viewer; Blender imports them) and drop.png: some of the
frames, drawn by examples/render.py with the clusters in colours.
"""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "addon"), str(ROOT / "examples")]

import numpy as np  # noqa: E402
import render  # noqa: E402
import shapes  # noqa: E402
from solver import Channel, LibraryError, Scene, Shape, Stiffness  # noqa: E402

RATE = 24
SHOWN = (0, 0.5, 0.75, 1.1, 1.6, 2.9)  # seconds
AXIS_ALONG_Y = (2**-0.5, 2**-0.5, 0, 0)  # a quarter turn about x
BAR = {"radius": 0.28, "half": 1.0, "position": (0.0, 0.0, 0.75)}
CAMERA = render.Camera((3.0, -6.6, 2.5), (0.34, 0, 0.92), 27)


def cluster_colours(body, vertices):
    """Each vertex has the colour of the cluster that is nearest at rest, softly at the borders."""
    centres = body.read(Channel.CLUSTER_CENTRE)
    squared = ((vertices[:, None] - centres) ** 2).sum(2)
    nearest = np.sqrt(squared.min(1, keepdims=True))
    weights = np.exp(-(np.sqrt(squared) - nearest) / (0.006 * np.ptp(vertices, axis=0).max()))
    weights /= weights.sum(1, keepdims=True)
    return weights @ render.palette(len(centres))


def build(scene, particles):
    vertices, triangles = shapes.bumpy((0.95, 0.42, 0.36), bump=0.09, waves=6, subdivisions=5)
    vertices = shapes.rotate(vertices, (0.99, 0, 0.1, 0.05)) + np.float32([0.12, 0, 1.9])
    body = scene.add_body(
        vertices,
        triangles,
        sample={"count": particles, "seed": 1},
        cluster={"count": max(8, particles // 60)},
        material={"stiffness_kind": Stiffness.YOUNG, "stiffness": 25000.0, "damping": 3.0},
    )
    # the outermost particles lie within the mesh: what they keep from colliders, it keeps
    keep = body.info.spacing * 0.4
    scene.add_collider(Shape.PLANE, friction=0.4, thickness=keep)
    scene.add_collider(
        Shape.CYLINDER,
        position=BAR["position"],
        rotation=AXIS_ALONG_Y,
        extent=(BAR["radius"], BAR["half"], 0),
        friction=0.3,
        thickness=keep,
    )
    return body, vertices, triangles


def bar_surface():
    vertices, triangles = shapes.cylinder(BAR["radius"], BAR["half"])
    vertices = shapes.rotate(vertices, AXIS_ALONG_Y) + np.float32(BAR["position"])
    return render.Surface(vertices, triangles, np.array([0.30, 0.32, 0.36]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "drop")
    parser.add_argument("--frames", type=int, default=72)
    parser.add_argument("--particles", type=int, default=4000)
    parser.add_argument("--width", type=int, default=384, help="of each picture of the strip")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("drop_*.ply"):
        old.unlink()

    began = time.perf_counter()
    with Scene() as scene:
        body, vertices, triangles = build(scene, options.particles)
        info = body.info
        print(
            f"{info.particles} particles, {info.level[0].clusters} clusters, "
            f"{info.level[0].memberships} memberships, made in "
            f"{time.perf_counter() - began:.2f} s"
        )
        for warning in body.warnings:
            print(f"warning: {warning}")
        colours = cluster_colours(body, vertices)
        skin = body.skin(vertices)
        shown = {round(second * RATE) for second in SHOWN}
        kept, simulated = [], 0.0
        for frame in range(options.frames + 1):
            if frame:
                start = time.perf_counter()
                scene.advance(dt=1 / RATE)
                simulated += time.perf_counter() - start
            surface = render.Surface(skin.apply().vertices, triangles, colours)
            render.write_ply(options.out / f"drop_{frame:04d}.ply", surface)
            if frame in shown:
                kept.append(surface)
            if frame % RATE == 0:
                print(
                    f"frame {frame} of {options.frames}: {scene.info.substeps} substeps, "
                    f"lowest point {surface.vertices[:, 2].min():+.4f}",
                    flush=True,
                )
        print(f"{options.frames} frames simulated in {simulated:.2f} s; state {scene.hash():016x}")

    bar, images = bar_surface(), []
    for number, surface in enumerate(kept, 1):
        print(f"drawing picture {number} of {len(kept)}", flush=True)
        images.append(render.draw([surface, bar], CAMERA, options.width, options.width * 7 // 8))
    picture = options.out / "drop.png"
    render.write_png(picture, render.tile(images, 3))
    print(f"wrote {options.frames + 1} meshes to {options.out}\nwrote {picture}")


if __name__ == "__main__":
    try:
        main()
    except LibraryError as error:
        sys.exit(f"error: {error}")
