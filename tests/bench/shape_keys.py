# SPDX-License-Identifier: GPL-3.0-or-later
"""How long shape keys take: 250 frames of a mesh of 100,000 vertices, read from a point cache.

python tests/bench/shape_keys.py [frames] [vertices a side]     (a Python with the bpy module)
"""

import sys
import tempfile
import time
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from addon.bake.formats import pc2
from addon.blender.results import shapekeys


def grid(side):
    """A mesh of side x side vertices."""
    y, x = np.divmod(np.arange(side * side), side)
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).reshape(-1)
    faces = np.stack([corner, corner + 1, corner + side + 1, corner + side], 1)
    mesh = bpy.data.meshes.new("grid")
    mesh.from_pydata(np.stack([x, y, 0 * x], 1) / side, [], faces.tolist())
    obj = bpy.data.objects.new("grid", mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def evaluated(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    out = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", out)
    return out.reshape(-1, 3)


def measure(frames, side, relative):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    obj = grid(side)
    count = side * side
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.pc2"
        first, move = rng.normal(size=(2, count, 3))
        with pc2.Writer(path, count, sync=False) as writer:
            for frame in range(frames):
                writer.append(first + 0.1 * np.sin(frame / 9) * move)
        began = time.perf_counter()
        shapekeys.add(obj, 1, pc2.frames(path), relative)
        made = time.perf_counter() - began
        motion = largest = error = played = 0.0
        rows = pc2.frames(path)
        for index in range(0, frames, 10):
            began = time.perf_counter()
            bpy.context.scene.frame_set(1 + index)
            played += time.perf_counter() - began
            error = max(error, np.abs(evaluated(obj) - rows[index]).max())
            motion = max(motion, np.abs(rows[index] - rows[index - 1]).max()) if index else motion
            largest = max(largest, np.abs(rows[index]).max())
        began = time.perf_counter()
        shapekeys.remove(obj)
        removed = time.perf_counter() - began
    kind = "relative" if relative else "absolute"
    shown = len(range(0, frames, 10))
    print(
        f"{bpy.app.version_string}: {frames} {kind} keys of {count} vertices made in {made:.2f} s,"
        f" removed in {removed:.2f} s, {1000 * played / shown:.0f} ms a frame; error "
        f"{error / motion:.1e} of the motion, {error / largest:.1e} of the largest coordinate"
    )
    return made


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:]] + [250, 317][len(sys.argv) - 1 :]
    for relative in (False, True):
        measure(*numbers, relative)
