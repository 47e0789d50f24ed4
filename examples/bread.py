# SPDX-License-Identifier: GPL-3.0-or-later
"""A loaf of bread is bent open and pulled apart by two hands."""

import stage

LENGTH, WIDTH, HEIGHT = 1.7, 0.9, 0.7

shot = stage.Shot("bread", 48, __doc__)

loaf = shot.add("primitive_cube_add", "Loaf", stage.plain((0.50, 0.24, 0.075), 0.6), size=1)
stage.divide(loaf, 15)
for vertex in loaf.data.vertices:  # a box whose edges are rounded off
    x, y, z = (2 * c for c in vertex.co)
    part = 1 / (abs(x) ** 5 + abs(y) ** 3.2 + abs(z) ** 3.2) ** 0.25
    scale = part if part < 1 else 1
    vertex.co.x, vertex.co.y = LENGTH / 2 * x * scale, WIDTH / 2 * y * scale
    vertex.co.z = HEIGHT / 2 * z * scale
loaf.location.z = 0.8
shot.hands(loaf, [(1, 0, 0, 0), (10, 8, 0, 0.02), (32, 38, 0, 0.24), (48, 44, 0, 0.5)])
held = loaf.vertex_groups.new(name="Held")
held.add([v.index for v in loaf.data.vertices if abs(v.co.x) > 0.36 * LENGTH], 1.0, "REPLACE")
soft = shot.soft(loaf, "Bread", 3500)
soft.start.use_pins, soft.start.pin_group = True, "Held"
soft.fracture.interior = stage.plain((0.90, 0.78, 0.55), 0.9)
soft.fracture.most_pieces = 8
middle = loaf.vertex_groups.new(name="Middle")  # or it might tear beside a hand
middle.add([v.index for v in loaf.data.vertices if abs(v.co.x) < 0.08 * LENGTH], 1.0, "REPLACE")
soft.fracture.seam_group, soft.fracture.seam_toughness = "Middle", 0.6
shot.floor()
shot.camera((1.2, -4.4, 2.4), (0, 0, 0.72), 34, (260, 180))
shot.finish([1, 16, 26, 32, 37, 48])
