# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar of taffy is drawn to five times its length, brought together again, and sags."""

import math

import stage

shot = stage.Shot("taffy", 96, __doc__)
LENGTH = 0.6


def bar(length=LENGTH, radius=0.17, rings=96, sides=40):
    """A round bar along x, closed."""
    vertices, faces = [], []
    for ring in range(rings + 1):
        for side in range(sides):
            angle = 2 * math.pi * side / sides
            vertices.append((length * (ring / rings - 0.5), radius * math.cos(angle), radius * math.sin(angle)))
    for ring in range(rings):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            faces.append((a, a + sides, b + sides, b))
    faces.append(tuple(range(sides)))
    faces.append(tuple(reversed(range(rings * sides, (rings + 1) * sides))))
    return vertices, faces


taffy = shot.mesh("Taffy", *bar(), stage.stripes([(0.86, 0.20, 0.30), (0.95, 0.80, 0.78)] * 6, 0.3))
taffy.location.z = 1.0
held = taffy.vertex_groups.new(name="Held")
held.add([v.index for v in taffy.data.vertices if abs(v.co.x) > 0.42 * LENGTH], 1.0, "REPLACE")
# pins follow the hands, the rest is left to the body: 5 * LENGTH from end to end
shot.hands(taffy, [(1, 0, 0, 0), (56, 0, 0, 2 * LENGTH), (64, 0, 0, 2 * LENGTH), (84, 0, 0, 1.1 * LENGTH)])
soft = shot.soft(taffy, "Taffy", 4000, material_plastic_limit=0, material_use_resample=True)
soft.start.use_pins, soft.start.pin_group = True, "Held"
shot.floor()
shot.camera((0.4, -6.0, 1.6), (0, 0, 0.82), 30, (264, 160))
shot.finish([1, 20, 38, 56, 70, 96])
