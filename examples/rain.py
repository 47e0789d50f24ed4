# SPDX-License-Identifier: GPL-3.0-or-later
"""Forty soft bodies rain into a bowl and pile up."""

import math
import random

import bpy  # first: bmesh is inside it
import bmesh
import stage

KINDS = (
    ("primitive_uv_sphere_add", {"segments": 24, "ring_count": 12, "radius": 0.17}),
    ("primitive_cube_add", {"size": 0.27}),
    ("primitive_torus_add", {"major_radius": 0.14, "minor_radius": 0.075, "major_segments": 32, "minor_segments": 12}),
    ("primitive_cone_add", {"vertices": 24, "radius1": 0.17, "depth": 0.3}),
)
COLOURS = ((0.78, 0.12, 0.12), (0.95, 0.60, 0.06), (0.12, 0.42, 0.70), (0.20, 0.55, 0.20), (0.50, 0.22, 0.60))

shot = stage.Shot("rain", 84, __doc__)
chance = random.Random(7)
for number in range(40):
    operator, size = KINDS[number % len(KINDS)]
    body = shot.add(
        operator,
        f"Drop {number + 1}",
        stage.plain(COLOURS[number % 5], 0.4),
        **size,
        location=(
            0.28 * (number % 3 - 1) + chance.uniform(-0.05, 0.05),
            0.28 * (number // 3 % 3 - 1) + chance.uniform(-0.05, 0.05),
            1.5 + 0.085 * number,
        ),
        rotation=tuple(chance.uniform(0, math.tau) for _ in range(3)),
    )
    if size.get("size"):  # the cube's own eight vertices would not bend
        bpy.context.view_layer.objects.active = body
        mesh = bmesh.new()
        mesh.from_mesh(body.data)
        bmesh.ops.subdivide_edges(mesh, edges=mesh.edges, cuts=5, use_grid_fill=True)
        mesh.to_mesh(body.data)
        mesh.free()
        body.data.polygons.foreach_set("use_smooth", [False] * len(body.data.polygons))
    shot.soft(body, "Rubber", 250, material_frequency=6, material_damping=3)
bowl = shot.add(
    "primitive_uv_sphere_add",
    "Bowl",
    stage.plain((0.70, 0.72, 0.75), 0.3),
    segments=64,
    ring_count=32,
    radius=0.95,
    location=(0, 0, 0.95),
)
mesh = bmesh.new()
mesh.from_mesh(bowl.data)
bmesh.ops.delete(mesh, geom=[v for v in mesh.verts if v.co.z > 0.05], context="VERTS")
mesh.to_mesh(bowl.data)
mesh.free()
shot.collider(bowl, shape="SHELL", friction=0.4, thickness=0.03)  # corners are outside of particles
shot.floor(friction=0.8)
shot.scene.pliant.use_contacts = True
shot.camera((1.2, -3.6, 4.6), (0, 0, 0.75), 30)
shot.finish([1, 13, 17, 21, 28, 84])
