# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar of taffy is drawn to more than twice its length, brought together again, and sags."""
import math

import stage

shot = stage.Shot("taffy", 84, __doc__)


def bar(length=1.2, radius=.2, rings=72, sides=40):
    """A round bar along x, closed."""
    vertices, faces = [], []
    for ring in range(rings + 1):
        for side in range(sides):
            angle = 2 * math.pi * side / sides
            vertices.append((length * (ring / rings - .5), radius * math.cos(angle),
                             radius * math.sin(angle)))
    for ring in range(rings):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            faces.append((a, a + sides, b + sides, b))
    faces.append(tuple(range(sides)))
    faces.append(tuple(reversed(range(rings * sides, (rings + 1) * sides))))
    return vertices, faces


taffy = shot.mesh("Taffy", *bar(), stage.stripes([(.86, .20, .30), (.95, .80, .78)] * 6, .3))
taffy.location.z = 1.0
held = taffy.vertex_groups.new(name="Held")
held.add([v.index for v in taffy.data.vertices if abs(v.co.x) > .52], 1.0, "REPLACE")
for frame, x in ((1, 1.0), (36, 2.3), (44, 2.3), (64, 1.3)):  # pins follow the object's own scale
    taffy.scale.x = x
    taffy.keyframe_insert("scale", index=0, frame=frame)
soft = shot.soft(taffy, "Taffy", 4000)
soft.start.use_pins, soft.start.pin_group = True, "Held"
shot.floor()
shot.camera((.6, -6.0, 1.6), (0, 0, .82), 30, (260, 200))
shot.finish([1, 18, 36, 52, 64, 84])
