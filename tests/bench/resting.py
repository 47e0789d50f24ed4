#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bodies come to rest: each preset dropped on a plane, on a mesh, in piles of ten and twenty.

    python tests/bench/resting.py [--presets NAME,...] [--scenes plane,mesh,pile10,pile20] [--frames N]

Run by a Python with the module bpy. Bakes through the add-on with its defaults, and prints a row of a
table for each scene: the last frame with a visible bounce (vertices move more than 10 mm a metre of
size on average), the last frame that is not still (mean above .05 mm a metre, or any vertex above .3,
in the body that moves most), the time between the two, the time that the damping promises (from 10 mm
to .05 at half the rate, of which rocking on a support is given at most 6 a second; never more than
4 s), the motion of the last frame, from which frame on nothing at all moves, how many bodies sleep in
the end, and how many woke again after a second of sleep.
"""

import argparse
import contextlib
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "blender"))
sys.dont_write_bytecode = True
import support  # noqa: E402

support.prepare()
import bpy  # noqa: E402
import numpy as np  # noqa: E402

support.enable()
baked = __import__("baked")
presets = support.addon("blender.presets")
BOUNCE, MEAN, MOST = 10.0, 0.05, 0.3  # millimetres a frame, a metre of size
LONGEST, ROCKING = 4.0, 6.0  # seconds; the most that rocking on a support loses a second
FPS = 24
HEAD = (
    "preset",
    "scene",
    "bounces until",
    "moves until",
    "still after, s",
    "promised, s",
    "mean",
    "most",
    "nothing moves from",
    "asleep",
    "woke",
    "holds",
    "minutes",
)


def creature():
    """A closed quadruped of about 2 m whose weight is not above its feet."""
    ball = bpy.data.metaballs.new("Creature")
    ball.resolution = ball.render_resolution = 0.09
    parts = [((0, 0, 1.0), 0.62), ((0.55, 0, 1.08), 0.55), ((-0.55, 0, 1.0), 0.55), ((0.95, 0.1, 1.5), 0.42)]
    parts += [((x, y, z), 0.26) for x in (-0.6, 0.6) for y in (-0.26, 0.26) for z in (0.2, 0.45, 0.7)]
    parts += [((1.1, y, 1.85), 0.17) for y in (-0.12, 0.2)]
    for place, radius in parts:
        part = ball.elements.new()
        part.co, part.radius = place, radius * 1.35
    source = bpy.data.objects.new("Creature source", ball)
    bpy.context.scene.collection.objects.link(source)
    bpy.context.view_layer.update()
    evaluated = source.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = bpy.data.meshes.new_from_object(evaluated)
    bpy.data.objects.remove(source)
    return mesh


def add(scene, name, mesh, preset, place, turn, particles):
    obj = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    for other in scene.objects:
        other.select_set(other is obj)
    obj.rotation_euler = turn
    bpy.context.view_layer.update()
    corners = np.array([obj.matrix_world @ v.co for v in mesh.vertices])
    obj.location = (place[0], place[1], place[2] - corners[:, 2].min())
    bpy.context.view_layer.update()
    bpy.ops.pliant.set_role(role="BODY")
    presets.apply(obj, preset)
    obj.pliant.particles.count = particles
    return obj


def floor(scene, bumpy):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=40, y_subdivisions=40, size=30)
    obj = bpy.context.object
    if bumpy:
        for vertex in obj.data.vertices:
            x, y = vertex.co.x, vertex.co.y
            vertex.co.z = 0.12 * np.sin(1.3 * x) * np.sin(1.1 * y) + 0.02 * (x * x + y * y)
    bpy.ops.pliant.set_role(role="COLLIDER")
    obj.pliant.collider.shape = "SHELL" if bumpy else "PLANE"


def build(preset, kind, count):
    scene = support.fresh()
    chance = random.Random(3)
    floor(scene, kind == "mesh")
    if kind in ("plane", "mesh"):
        add(scene, "Body", creature(), preset, (0, 0, 2.0), (0.4, 0, 0.3), 3000)
        return scene, 2.0
    for i in range(count):
        bpy.ops.mesh.primitive_cube_add(size=1)
        mesh = bpy.context.object.data
        bpy.data.objects.remove(bpy.context.object)
        import bmesh

        refined = bmesh.new()
        refined.from_mesh(mesh)
        bmesh.ops.subdivide_edges(refined, edges=refined.edges, cuts=5, use_grid_fill=True)
        bmesh.ops.scale(refined, vec=(1, 0.8, 0.5), verts=refined.verts)
        refined.to_mesh(mesh)
        refined.free()
        add(
            scene,
            f"Body {i}",
            mesh,
            preset,
            (chance.uniform(-0.3, 0.3), chance.uniform(-0.3, 0.3), 0.3 + 1.1 * i),
            tuple(chance.uniform(-0.6, 0.6) for _ in range(3)),
            300,
        )
    return scene, 1.0


@contextlib.contextmanager
def kept_folder(keep, preset, kind):
    if keep:
        yield Path(keep, f"{preset}-{kind}")
        return
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def motions(cache, size, frames):
    """(frames - 1, bodies, 2): how far vertices of each body move in a frame, mean and most, in
    millimetres a metre of size."""
    found = np.zeros((frames - 1, len(cache.bodies), 2))
    with cache.open_store() as store:
        for number, body in enumerate(cache.bodies):
            before = None
            with store.skin(body.index, cache.rest(body), origin=cache.origin) as skin:
                for frame in range(1, frames + 1):
                    now = skin.apply(frame, origin=cache.origin).vertices.copy()
                    if before is not None:
                        way = np.linalg.norm(now - before, axis=1) * 1000 / size
                        found[frame - 2, number] = way.mean(), way.max()
                    before = now
    return found


def last_frame(true):
    """The last frame of which something is true; row 0 is what moves into frame 2."""
    return int(np.flatnonzero(true)[-1]) + 2 if true.any() else 1


def sleep_of(ways):
    """How many bodies do not move at all at the end, from which frame on none does, and how many had
    not moved for a second and did again."""
    moving = ways[:, :, 1] > 0
    woke = 0
    for body in moving.T:
        quiet = 0
        for moves in body:
            woke += moves and quiet >= FPS
            quiet = 0 if moves else quiet + 1
    return int((~moving[-1]).sum()), last_frame(moving.any(1)), woke


def promised(rate):
    slowest = min(rate, ROCKING) / 2
    return min(LONGEST, np.log(BOUNCE / MEAN) / slowest) if slowest > 0 else LONGEST


def measure(preset, kind, frames, keep):
    count = int(kind[4:] or 10) if kind.startswith("pile") else 1
    scene, size = build(preset, kind, count)
    scene.frame_start, scene.frame_end = 1, frames
    bodies = [obj for obj in scene.objects if obj.pliant.role == "BODY"]
    time_given = promised(min(obj.pliant.material.damping for obj in bodies))
    started = time.time()
    with kept_folder(keep, preset, kind) as folder:
        ways = motions(baked.bake(scene, folder), size, frames)
    mean, most = ways[:, :, 0].max(1), ways[:, :, 1].max(1)
    bounced, still = last_frame(mean > BOUNCE), last_frame((mean > MEAN) | (most > MOST))
    asleep, from_then, woke = sleep_of(ways)
    after = max(0, still - bounced) / FPS
    holds = after <= time_given and still < frames
    return (
        preset,
        kind,
        bounced,
        still,
        f"{after:.2f}",
        f"{time_given:.2f}",
        f"{mean[-1]:.4f}",
        f"{most[-1]:.4f}",
        from_then if from_then < frames else "-",
        f"{asleep}/{count}",
        woke,
        "yes" if holds else "NO",
        f"{(time.time() - started) / 60:.1f}",
    )


def row(cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", default=",".join(presets.TABLE))
    parser.add_argument("--scenes", default="plane,mesh,pile10,pile20")
    parser.add_argument("--frames", type=int, default=250)
    parser.add_argument("--keep", help="a folder for the bakes")
    args = parser.parse_args()
    row(HEAD)
    row(["---"] * len(HEAD))
    for kind in args.scenes.split(","):
        for preset in args.presets.split(","):
            row(measure(preset, kind, args.frames, args.keep))


if __name__ == "__main__":
    main()
