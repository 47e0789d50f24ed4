# SPDX-License-Identifier: GPL-3.0-or-later
"""A steel ball is pressed through a soft metal plate, which dents, stretches and tears."""

import stage

shot = stage.Shot("ductile", 48, __doc__)

plate = shot.add(
    "primitive_cube_add", "Plate", stage.plain((0.56, 0.57, 0.60), 0.35, Metallic=1.0), smooth=False, size=1
)
stage.divide(plate, 19)
for vertex in plate.data.vertices:
    vertex.co.x, vertex.co.y, vertex.co.z = 2 * vertex.co.x, 2 * vertex.co.y, 0.12 * vertex.co.z
plate.location.z = 1.2
held = plate.vertex_groups.new(name="Held")
held.add([v.index for v in plate.data.vertices if max(abs(v.co.x), abs(v.co.y)) > 0.94], 1.0, "REPLACE")
soft = shot.soft(plate, "Lead", 4000)
soft.start.use_pins, soft.start.pin_group = True, "Held"
own = soft.fracture
own.use_fracture, own.toughness, own.boost = True, 0.05, 1.0
own.most_pieces, own.roughness, own.opening = 8, 0.1, 3.0
own.interior = stage.plain((0.80, 0.42, 0.16), 0.5, Metallic=0.6)

ball = shot.add(
    "primitive_uv_sphere_add",
    "Ball",
    stage.plain((0.20, 0.23, 0.30), 0.25, Metallic=1.0),
    radius=0.42,
    segments=48,
    ring_count=24,
)
shot.collider(ball, shape="SPHERE")
for frame, z in ((1, 1.75), (48, -0.1)):
    ball.location = (0, 0, z)
    ball.keyframe_insert("location", frame=frame)
shot.floor()
shot.camera((2.2, -4.6, 1.9), (0, 0, 0.85), 34, (260, 220))
shot.finish([1, 14, 22, 30, 38, 48])
