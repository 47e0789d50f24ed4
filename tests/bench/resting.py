#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bodies come to rest: each preset dropped on a plane, on a mesh and in a pile of ten.

    python tests/bench/resting.py [--presets NAME,...] [--scenes plane,mesh,pile] [--frames N]

Run by a Python with the module bpy. Bakes through the add-on with its defaults, and prints for each
scene: the last frame with a visible bounce (vertices move more than 10 mm a metre of size on average),
the last frame that is not still (mean above .05 mm a metre, or any vertex above .3), the motion at
the end, and how many bodies sleep then.
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
import house  # noqa: E402

house.prepare()
import bpy  # noqa: E402
import numpy as np  # noqa: E402

house.enable()
baked = __import__("baked")
presets = house.addon("ui.presets")
BOUNCE, MEAN, MOST = 10.0, .05, .3  # millimetres a frame, a metre of size
VERBOSE = False


def creature():
    """A closed quadruped of about 2 m whose weight is not above its feet."""
    ball = bpy.data.metaballs.new("Creature")
    ball.resolution = ball.render_resolution = .09
    parts = [((0, 0, 1.0), .62), ((.55, 0, 1.08), .55), ((-.55, 0, 1.0), .55), ((.95, .1, 1.5), .42)]
    parts += [((x, y, z), .26) for x in (-.6, .6) for y in (-.26, .26) for z in (.2, .45, .7)]
    parts += [((1.1, y, 1.85), .17) for y in (-.12, .2)]
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
            vertex.co.z = .12 * np.sin(1.3 * x) * np.sin(1.1 * y) + .02 * (x * x + y * y)
    bpy.ops.pliant.set_role(role="COLLIDER")
    obj.pliant.collider.shape = "MESH" if bumpy else "PLANE"


def build(preset, kind, count):
    scene = house.fresh()
    chance = random.Random(3)
    floor(scene, kind == "mesh")
    if kind in ("plane", "mesh"):
        add(scene, "Body", creature(), preset, (0, 0, 2.0), (.4, 0, .3), 3000)
        return scene, 2.0
    for i in range(count):
        bpy.ops.mesh.primitive_cube_add(size=1)
        mesh = bpy.context.object.data
        bpy.data.objects.remove(bpy.context.object)
        import bmesh
        refined = bmesh.new()
        refined.from_mesh(mesh)
        bmesh.ops.subdivide_edges(refined, edges=refined.edges, cuts=5, use_grid_fill=True)
        bmesh.ops.scale(refined, vec=(1, .8, .5), verts=refined.verts)
        refined.to_mesh(mesh)
        refined.free()
        add(scene, f"Body {i}", mesh, preset,
            (chance.uniform(-.3, .3), chance.uniform(-.3, .3), .3 + 1.1 * i),
            tuple(chance.uniform(-.6, .6) for _ in range(3)), 300)
    return scene, 1.0


@contextlib.contextmanager
def kept_folder(keep, preset, kind):
    if keep:
        yield Path(keep, f"{preset}-{kind}")
        return
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def measure(preset, kind, frames, count, keep):
    scene, size = build(preset, kind, count)
    scene.frame_start, scene.frame_end = 1, frames
    started = time.time()
    with kept_folder(keep, preset, kind) as folder:
        cache = baked.bake(scene, folder)
        bodies = cache.bodies
        bounced = still = 0
        before, last = None, (0, 0)
        for frame in range(1, frames + 1):
            now = [baked.stored(cache, body, frame) for body in bodies]
            if before is not None:
                ways = [np.linalg.norm(a - b, axis=1) * 1000 / size for a, b in zip(now, before)]
                last = max(w.mean() for w in ways), max(w.max() for w in ways)
                if VERBOSE and frame % 5 == 0:
                    print(f"    {frame:3d} {last[0]:8.4f} {last[1]:8.4f}", flush=True)
                if last[0] > BOUNCE:
                    bounced = frame
                if last[0] > MEAN or last[1] > MOST:
                    still = frame
            before = now
    print(f"{preset:18s} {kind:6s} bounces until {bounced:3d}, moves until {still:3d} of {frames}; "
          f"at the end {last[0]:.4f} mean {last[1]:.4f} most; {time.time() - started:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", default=",".join(presets.TABLE))
    parser.add_argument("--scenes", default="plane,mesh,pile")
    parser.add_argument("--frames", type=int, default=250)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep", help="a folder for the bakes")
    args = parser.parse_args()
    global VERBOSE
    VERBOSE = args.verbose
    for kind in args.scenes.split(","):
        for preset in args.presets.split(","):
            measure(preset, kind, args.frames, args.count, args.keep)


if __name__ == "__main__":
    main()
