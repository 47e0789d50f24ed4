# SPDX-License-Identifier: GPL-3.0-or-later
"""A candle gets warm from above: it sags, melts and runs down, and stays as it has run."""

import math

import stage

shot = stage.Shot("candle", 120, __doc__)
HEIGHT, RADIUS = 1.15, 0.34


def candle(rings=90, sides=48):
    """A closed candle along z with rounded rims."""
    vertices, faces = [], []
    for ring in range(rings + 1):
        z = HEIGHT * ring / rings
        near = min(z, HEIGHT - z) / 0.05
        r = RADIUS * (1 if near >= 1 else 0.8 + 0.2 * math.sqrt(1 - (1 - near) ** 2))
        for side in range(sides):
            a = 2 * math.pi * side / sides
            vertices.append((r * math.cos(a), r * math.sin(a), z))
    for ring in range(rings):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            faces.append((a, b, b + sides, a + sides))
    faces.append(tuple(range(sides - 1, -1, -1)))
    faces.append(tuple(range(rings * sides, (rings + 1) * sides)))
    return vertices, faces


wax = shot.mesh("Candle", *candle(), stage.plain((0.90, 0.62, 0.30), 0.35))
cold = wax.vertex_groups.new(name="Cold")
warm = wax.vertex_groups.new(name="Warm")
for vertex in wax.data.vertices:
    part = min(1, max(0, vertex.co.z / HEIGHT))
    cold.add([vertex.index], (1 - part) ** 2, "REPLACE")
    warm.add([vertex.index], part**2, "REPLACE")
soft = shot.soft(
    wax, "Wax", 5000, material_plastic_limit=0, material_hardening=0, material_frequency=3.5, material_yield_strain=0.05
)
foot = wax.vertex_groups.new(name="Foot")
foot.add([v.index for v in wax.data.vertices if v.co.z < 0.08], 1, "REPLACE")
soft.start.use_pins, soft.start.pin_group = True, "Foot"
soft.paint.yield_group, soft.paint.yield_zero, soft.paint.yield_one = "Cold", 0, 1
soft.paint.flow_group, soft.paint.flow_zero, soft.paint.flow_one = "Warm", 0.02, 1
for frame, flow in ((1, 0), (8, 0), (30, 80), (120, 80)):
    soft.material.flow = flow
    wax.keyframe_insert("pliant.material.flow", frame=frame)
shot.floor(friction=2)
shot.camera((0.9, -5.2, 1.6), (0.15, 0, 0.65), 26)
shot.finish([1, 18, 26, 36, 60, 120])
