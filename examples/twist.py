# SPDX-License-Identifier: GPL-3.0-or-later
"""A square bar is twisted and drawn by its ends until it tears."""

import math

import stage

LENGTH, WIDTH = 1.8, 0.36

shot = stage.Shot("twist", 60, __doc__)

bar = shot.add("primitive_cube_add", "Bar", None, smooth=False, size=1)
stage.divide(bar, 19)
for vertex in bar.data.vertices:  # thinner in the middle
    width = WIDTH * (1 - 0.4 * math.exp(-((vertex.co.x / 0.16) ** 2)))
    vertex.co.x, vertex.co.y, vertex.co.z = (LENGTH * vertex.co.x, width * vertex.co.y, width * vertex.co.z)
bar.data.materials.append(stage.stripes([(0.80, 0.45, 0.12), (0.93, 0.72, 0.30)] * 5, 0.4))
bar.location.z = 0.7
shot.hands(bar, [(1, 0, 0, 0), (30, 0, 75, 0.06), (60, 0, 130, 0.4)])
held = bar.vertex_groups.new(name="Held")
held.add([v.index for v in bar.data.vertices if abs(v.co.x) > 0.4 * LENGTH], 1.0, "REPLACE")
soft = shot.soft(bar, "Flesh that Tears", 3500)
soft.start.use_pins, soft.start.pin_group = True, "Held"
soft.fracture.interior = stage.plain((0.62, 0.10, 0.08), 0.6)
soft.fracture.most_pieces = 6
shot.floor()
shot.camera((0.6, -4.8, 2.0), (0, 0, 0.65), 34, (260, 150))
shot.finish([1, 20, 40, 52, 56, 60])
