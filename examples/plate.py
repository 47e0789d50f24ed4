# SPDX-License-Identifier: GPL-3.0-or-later
"""A steel ball falls through a ceramic plate that is held at its rim."""

import stage

shot = stage.Shot("plate", 36, __doc__)

plate = shot.add("primitive_cube_add", "Plate", stage.plain((0.20, 0.36, 0.62), 0.25), smooth=False, size=1)
stage.divide(plate, 23)
for vertex in plate.data.vertices:
    vertex.co.x, vertex.co.y, vertex.co.z = 2.2 * vertex.co.x, 2.2 * vertex.co.y, 0.13 * vertex.co.z
plate.location.z = 1.1
held = plate.vertex_groups.new(name="Held")
held.add([v.index for v in plate.data.vertices if max(abs(v.co.x), abs(v.co.y)) > 1.04], 1.0, "REPLACE")
soft = shot.soft(plate, "Ceramic", 4000)
soft.start.use_pins, soft.start.pin_group = True, "Held"
soft.fracture.interior = stage.plain((0.93, 0.90, 0.84), 0.8)
soft.fracture.toughness *= 0.6
shot.scene.pliant.max_substeps = 64  # with fewer it would bend

ball = shot.add(
    "primitive_uv_sphere_add",
    "Ball",
    stage.plain((0.5, 0.5, 0.52), 0.25, Metallic=1.0),
    radius=0.28,
    segments=48,
    ring_count=24,
)
shot.collider(ball, shape="SPHERE")
for frame, z in ((1, 2.2), (18, -0.6), (36, -1.0)):
    ball.location = (0.12, -0.08, z)
    ball.keyframe_insert("location", frame=frame)
shot.floor()
shot.camera((3.2, -4.6, 3.6), (0, 0, 0.75), 34, (260, 220))
shot.finish([1, 8, 10, 13, 18, 36])
