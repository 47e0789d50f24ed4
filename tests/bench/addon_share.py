# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a bake the add-on takes: everything but the library.

    python tests/bench/addon_share.py [--vertices 100000] [--particles 20000] [--frames 100]

A ball falls on a floor and is baked to PC2, in a Python that has the module bpy. The library's time is
what its C functions take, called from the bake's thread, without the Python that they call back. All
the rest from reading the scene to the last byte is the add-on's own, Blender's evaluation included:

    wall        of the bake's thread; what is written beside the simulation is only waited for
    processor   of the bake's thread outside of the library, and of the thread that writes

Wall time, so run it on a quiet machine; the run with the least own time counts.
"""

import argparse
import functools
import math
import os
import sys
import tempfile
import threading
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
    points = np.stack(
        [
            np.outer(np.sin(theta), np.cos(phi)),
            np.outer(np.sin(theta), np.sin(phi)),
            np.outer(np.cos(theta), np.ones(segments)),
        ],
        -1,
    ).reshape(-1, 3)
    points = np.concatenate([points, [(0, 0, 1), (0, 0, -1)]])
    low = (np.arange(rings - 1)[:, None] * segments + np.arange(segments)).reshape(-1)
    right = low - low % segments + (low + 1) % segments
    quads = np.stack([low, low + segments, right + segments, right], -1)
    top, bottom = len(points) - 2, len(points) - 1
    ring, last = np.arange(segments), (rings - 1) * segments
    after = (ring + 1) % segments
    caps = np.concatenate(
        [
            np.stack([np.full(segments, top), ring, after], -1),
            np.stack([np.full(segments, bottom), last + after, last + ring], -1),
        ]
    )
    mesh = bpy.data.meshes.new("Ball")
    mesh.from_pydata(points.tolist(), [], quads.tolist() + caps.tolist())
    return mesh


class Clock:
    """Seconds by name, of the wall and of the calling thread's processor time."""

    def __init__(self):
        self.wall, self.processor = {}, {}
        self.bakes = threading.get_ident()

    def timed(self, name, function):
        """The function, counted. Names get a mark where another thread than the bake's calls."""

        @functools.wraps(function)
        def counted(*values, **settings):
            wall, processor = time.perf_counter(), time.thread_time()
            try:
                return function(*values, **settings)
            finally:
                which = name if threading.get_ident() == self.bakes else name + ", beside"
                self._add(self.wall, which, time.perf_counter() - wall)
                self._add(self.processor, which, time.thread_time() - processor)

        return counted

    @staticmethod
    def _add(seconds, name, more):
        seconds[name] = seconds.get(name, 0.0) + more

    def patch(self, holder, attribute, name):
        setattr(holder, attribute, self.timed(name, getattr(holder, attribute)))


LIBRARY, BACK = "the library, with what it calls back", "progress"
CAPTURE, MAKING, BAKING = "reading the scene", "making the cache", "baking"


def watch(clock):
    """Everything that is told apart."""
    from addon.bake import background as beside
    from addon.bake.formats import pc2
    from addon.blender.capture import capture
    from addon.solver import _abi, errors, library

    loaded = library.load()
    for name in _abi.FUNCTIONS:
        clock.patch(loaded, name, LIBRARY)
    clock.patch(errors.Progress, "_call", BACK)
    clock.patch(pc2.Writer, "write", "rows")
    clock.patch(pc2.Writer, "sync", "disk")
    clock.patch(beside.BackgroundWorker, "wait", "waiting for rows and disk")
    clock.patch(capture, "set_frame", "Blender's evaluation")


def scene_of(arguments):
    scene = bpy.context.scene
    scene.frame_end = arguments.frames
    obj = bpy.data.objects.new("Ball", ball(arguments.vertices))
    scene.collection.objects.link(obj)
    obj.location.z = 2
    obj.pliant.role = "BODY"
    obj.pliant.particles.count = arguments.particles
    bpy.ops.mesh.primitive_plane_add(size=40)
    bpy.context.object.pliant.role = "COLLIDER"
    return scene


def bake(scene, clock):
    """Bakes once, into a folder that is then gone."""
    from addon.bake import plan
    from addon.blender.capture import capture

    clock.wall.clear()
    clock.processor.clear()
    with tempfile.TemporaryDirectory() as folder:
        shot = clock.timed(CAPTURE, capture.capture_all)(scene)
        job = clock.timed(MAKING, plan.make_job)(folder, shot)
        clock.timed(BAKING, job.run)()
        if job.error:
            sys.exit(job.error)
        return dict(clock.wall), dict(clock.processor), job.cache.bytes()


def own(seconds):
    """What is not the library's, of one kind of seconds of the bake's thread."""
    return sum(seconds[name] for name in (CAPTURE, MAKING, BAKING)) - seconds[LIBRARY] + seconds.get(BACK, 0.0)


def report(wall, processor):
    whole = sum(wall[name] for name in (CAPTURE, MAKING, BAKING))
    for name, seconds in wall.items():
        print(f"    {name:40s}{seconds:7.3f} s, processor {processor[name]:7.3f} s")
    beside = sum(value for name, value in processor.items() if name.endswith(", beside"))
    used = own(processor) + beside
    print(f"the add-on's own, wall       {own(wall):7.3f} s of {whole:.2f} s: {100 * own(wall) / whole:.1f} %")
    print(
        f"the add-on's own, processor  {used:7.3f} s, of which {beside:.3f} s beside: "
        f"{100 * used / whole:.1f} % of the same",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vertices", type=int, default=100000)
    parser.add_argument("--particles", type=int, default=20000)
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    import addon

    addon.register()
    scene = scene_of(arguments)
    clock = Clock()
    watch(clock)
    runs = [bake(scene, clock) for _ in range(arguments.runs)]
    wall, processor, size = min(runs, key=lambda run: own(run[0]))
    print(
        f"Blender {bpy.app.version_string}, {len(bpy.data.meshes['Ball'].vertices)} vertices, "
        f"{arguments.particles} particles, {arguments.frames} frames, {size / 1e6:.0f} MB, "
        f"{arguments.runs} runs"
    )
    report(wall, processor)


if __name__ == "__main__":
    main()
    os._exit(0)  # the module of Blender 4.2 may crash on its way out
