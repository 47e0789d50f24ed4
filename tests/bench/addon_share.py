# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a bake the add-on takes: everything but the library and Blender's own evaluation.

    python tests/bench/addon_share.py [--vertices 100000] [--particles 20000] [--frames 100]

A ball falls on a floor and is baked to PC2, in a Python that has the module bpy. Printed: seconds
of reading the scene (Blender's frame_set apart), simulating (the library apart), and the share of the
whole. Wall time, so run it on a quiet machine.
"""
import argparse
import math
import os
import sys
import tempfile
import time
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def ball(vertices):
    """A sphere of about this many vertices, made of arrays: primitives order faces as they like."""
    rings = max(4, round(math.sqrt(vertices / 2)))
    segments = 2 * rings
    theta = np.linspace(0, math.pi, rings + 2)[1:-1]
    phi = np.arange(segments) * (2 * math.pi / segments)
    points = np.stack([np.outer(np.sin(theta), np.cos(phi)), np.outer(np.sin(theta), np.sin(phi)),
                       np.outer(np.cos(theta), np.ones(segments))], -1).reshape(-1, 3)
    points = np.concatenate([points, [(0, 0, 1), (0, 0, -1)]])
    low = (np.arange(rings - 1)[:, None] * segments + np.arange(segments)).reshape(-1)
    right = low - low % segments + (low + 1) % segments
    quads = np.stack([low, low + segments, right + segments, right], -1)
    top, bottom = len(points) - 2, len(points) - 1
    ring, last = np.arange(segments), (rings - 1) * segments
    after = (ring + 1) % segments
    caps = np.concatenate([np.stack([np.full(segments, top), ring, after], -1),
                           np.stack([np.full(segments, bottom), last + after, last + ring], -1)])
    mesh = bpy.data.meshes.new("Ball")
    mesh.from_pydata(points.tolist(), [], quads.tolist() + caps.tolist())
    return mesh


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vertices", type=int, default=100000)
    parser.add_argument("--particles", type=int, default=20000)
    parser.add_argument("--frames", type=int, default=100)
    arguments = parser.parse_args()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    import addon
    addon.register()
    from addon.bake import plan
    from addon.bridge import capture
    scene = bpy.context.scene
    scene.frame_end = arguments.frames
    obj = bpy.data.objects.new("Ball", ball(arguments.vertices))
    scene.collection.objects.link(obj)
    obj.location.z = 2
    obj.pliant.role = "BODY"
    obj.pliant.particles.count = arguments.particles
    bpy.ops.mesh.primitive_plane_add(size=40)
    bpy.context.object.pliant.role = "COLLIDER"

    evaluating = 0.0
    begun = time.perf_counter()
    capturing = capture.Capture(scene)
    set_frame = capture.set_frame

    def timed(*values):
        nonlocal evaluating
        start = time.perf_counter()
        set_frame(*values)
        evaluating += time.perf_counter() - start

    capture.set_frame = timed
    for _ in capturing:
        pass
    captured = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        job = plan.make_job(folder, capturing.shot)
        made = time.perf_counter() - begun
        job.run()
        if job.error:
            sys.exit(job.error)
        size = job.cache.bytes()
    own = captured - evaluating + made + job.seconds - job.library_seconds
    whole = captured + made + job.seconds
    print(f"Blender {bpy.app.version_string}, {len(obj.data.vertices)} vertices, "
          f"{arguments.particles} particles, {arguments.frames} frames, {size / 1e6:.0f} MB")
    print(f"reading the scene  {captured:7.2f} s, of which Blender evaluates {evaluating:.2f} s")
    print(f"making the cache   {made:7.2f} s")
    print(f"simulating         {job.seconds:7.2f} s, of which the library takes "
          f"{job.library_seconds:.2f} s")
    for name, seconds in sorted(job.own_seconds.items(), key=lambda item: -item[1]):
        print(f"    {name:15s}{seconds:7.2f} s")
    print(f"the add-on's own   {own:7.2f} s of {whole:.2f} s: {100 * own / whole:.1f} %")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # the module of Blender 4.2 may crash on its way out
