# SPDX-License-Identifier: GPL-3.0-or-later
"""Points on the cracks of a bake, to emit debris and dust from: an object that plays in any
Blender.

    birth     the frame at which the crack under a point opens
    piece     the fragment that it is on
    velocity  metres a second, in world space

A node group shows a point from its birth for as long as its modifier says; users instance or
simulate from there.
"""

import bpy
import numpy as np

from ...bake import fragments as baked_fragments
from ...bake.errors import BakeError
from ...bake.output import write_pc2
from .. import modifiers
from . import fractured_mesh, nodes

COUNT = 4000


def object_name(body):
    return f"{body.name} Debris"


def make(scene, output, count=COUNT, progress=None):
    """The object of points on the cracks of a FracturedOutput; replaces an earlier one."""
    body = output.body
    points = baked_fragments.crack_points(output.broken, count)
    if not len(points.birth):
        raise BakeError(f"'{body.name}' has no crack that debris could come from.")
    old = next(
        (o for o in scene.objects if o.pliant.result.kind == "DEBRIS" and o.pliant.result.body == body.name), None
    )
    places, speeds = output.path("debris.pc2"), output.path("debris.velocity.pc2")
    first = _write(output, points, places, speeds, progress)
    if old is not None:
        nodes.remove_played(old)
    name = object_name(body)
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(first))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(first, np.float32).reshape(-1))
    fractured_mesh.put(mesh, "birth", "FLOAT", "POINT", np.minimum(points.birth, fractured_mesh.NEVER))
    fractured_mesh.put(mesh, "piece", "INT", "POINT", output.numbers()[points.piece])
    obj = bpy.data.objects.new(name, mesh)
    obj.location = output.cache.origin
    scene.collection.objects.link(obj)
    result = obj.pliant.result
    result.kind, result.body = "DEBRIS", body.name
    result.values = nodes.companion(f"{body.name} Debris Values", len(first))
    modifiers.play(obj, places, output.first)
    modifiers.play(result.values, speeds, output.first)
    obj.modifiers.new("Pliant Debris", "NODES").node_group = nodes.debris_group(result.values)
    return obj


def _write(output, points, places, speeds, progress):
    """Writes positions and velocities of the points; returns the first positions."""
    rows = np.array([points.of(place) for place in output.places(output.frames)], np.float32)
    count = len(rows)
    velocity = np.zeros_like(rows)
    for k in range(count):
        before, after = max(k - 1, 0), min(k + 1, count - 1)
        velocity[k] = (rows[after] - rows[before]) * (output.cache.fps / max(after - before, 1))
        if progress:
            progress((k + 1) / count)
    write_pc2(places, rows.shape[1], output.first, rows)
    write_pc2(speeds, rows.shape[1], output.first, velocity)
    return rows[0]
