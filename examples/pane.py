# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball through a pane of glass that breaks along cells, the smaller the nearer to the blow."""

import math

import stage

shot = stage.Shot("pane", 40, __doc__)
HIT = (0.15, 0.2)

pane = shot.add("primitive_cube_add", "Pane", stage.plain((0.75, 0.88, 0.86), 0.05, Metallic=0.0), smooth=False, size=1)
stage.divide(pane, 19)
for vertex in pane.data.vertices:
    vertex.co.x, vertex.co.y, vertex.co.z = 2.4 * vertex.co.x, 0.09 * vertex.co.y, 2.0 * vertex.co.z
pane.location.z = 1.05
held = pane.vertex_groups.new(name="Held")
held.add([v.index for v in pane.data.vertices if abs(v.co.x) > 1.13 or abs(v.co.z) > 0.93], 1.0, "REPLACE")
soft = shot.soft(pane, "Glass-like", 6000)
soft.start.use_pins, soft.start.pin_group = True, "Held"

# a cell about each vertex of another mesh: a spiral that is densest where the ball comes through
turn = math.pi * (3 - math.sqrt(5))
places = []
for n in range(110):
    far = 1.8 * ((n + 0.6) / 110) ** 1.1 * (1 + 0.12 * math.sin(12.9898 * n))
    x, z = HIT[0] + far * math.cos(n * turn), HIT[1] + far * math.sin(n * turn)
    if abs(x) < 1.3 and abs(z) < 1.1:
        places.append((x, 0.004 * ((n * 7) % 5 - 2), z))
middles = shot.mesh("Cells", places, [])
middles.location.z = 1.05
middles.hide_render = True
soft.fracture.breaks, soft.fracture.cells_from, soft.fracture.cells_object = "CELLS", "OBJECT", middles
soft.fracture.roughness, soft.fracture.toughness = 0.02, 0.003
soft.fracture.interior = stage.plain((0.30, 0.62, 0.60), 0.15)

ball = shot.add(
    "primitive_uv_sphere_add", "Ball", stage.plain((0.75, 0.25, 0.12), 0.35), radius=0.3, segments=48, ring_count=24
)
shot.collider(ball, shape="SPHERE")
for frame, y in ((1, -1.6), (16, 1.0), (40, 4.0)):
    ball.location = (HIT[0], y, 1.05 + HIT[1])
    ball.keyframe_insert("location", frame=frame)
shot.floor()
shot.camera((-2.75, 4.9, 2.5), (0.05, 0.45, 0.85), 34, (260, 220))
shot.finish([1, 11, 12, 14, 20, 40])
