# SPDX-License-Identifier: GPL-3.0-or-later
"""A square bar of lead is twisted through one and a half turns, and stays so."""

import math

import stage

TURNS = 1.5  # of one end against the other

shot = stage.Shot("wring", 84, __doc__)


def bar(length=2.4, width=0.42, along=96, across=10):
    """A square bar along x, closed, its faces divided evenly."""
    ring = []
    for side in range(4):
        for step in range(across):
            part = width * (step / across - 0.5)
            ring.append([(part, -width / 2), (width / 2, part), (-part, width / 2), (-width / 2, -part)][side])
    vertices = [(length * (i / along - 0.5), y, z) for i in range(along + 1) for y, z in ring]
    count, faces = len(ring), []
    for i in range(along):
        for j in range(count):
            a, b = i * count + j, i * count + (j + 1) % count
            faces.append((a, a + count, b + count, b))
    faces.append(tuple(range(count)))
    faces.append(tuple(reversed(range(along * count, (along + 1) * count))))
    return vertices, faces


rod = shot.mesh("Bar", *bar(), stage.checked((0.80, 0.45, 0.10), (0.93, 0.83, 0.62), 6, 0.35), smooth=False)
rod.location.z = 1.0
held = rod.vertex_groups.new(name="Held")
held.add([v.index for v in rod.data.vertices if abs(v.co.x) > 1.06], 1.0, "REPLACE")
turn = rod.modifiers.new("Twist", "SIMPLE_DEFORM")  # pins follow it, the rest is left to the body
turn.deform_method, turn.deform_axis = "TWIST", "X"
for frame, turns in ((1, 0), (6, 0), (66, TURNS)):
    turn.angle = turns * 2 * math.pi
    turn.keyframe_insert("angle", frame=frame)
soft = shot.soft(
    rod,
    "Lead",
    6000,
    material_plastic_limit=0,
    material_frequency=60,
    material_yield_strain=0.03,
    material_flow=60,
    material_hardening=0.05,
)
soft.start.use_pins, soft.start.pin_group = True, "Held"
shot.floor()
shot.camera((0.5, -6.2, 2.0), (0, 0, 0.95), 28, (260, 180))
shot.finish([1, 20, 34, 48, 66, 84])
