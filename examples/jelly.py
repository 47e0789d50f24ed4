# SPDX-License-Identifier: GPL-3.0-or-later
"""A jelly wobbles on a plate that is moved to and fro and stopped."""

import math

import stage

shot = stage.Shot("jelly", 84, __doc__)


def mould(rings=28, sides=96, radius=0.62, height=0.6):
    """A fluted dome as it comes out of a mould: closed, its foot at zero."""
    profile = []
    for ring in range(rings + 1):
        part = ring / rings
        if part < 0.72:  # the wall, leaning in
            up = part / 0.72
            profile.append((radius * (1 - 0.22 * up), height * 0.82 * up))
        else:  # the round top
            turn = (part - 0.72) / 0.28 * math.pi / 2
            profile.append((radius * 0.78 * math.cos(turn), height * (0.82 + 0.18 * math.sin(turn))))
    vertices, faces = [], []
    for r, z in profile[:-1]:
        depth = 0.07 * min(1, 1.6 * r / radius)
        for side in range(sides):
            angle = 2 * math.pi * side / sides
            flute = r * (1 + depth * math.cos(8 * angle))
            vertices.append((flute * math.cos(angle), flute * math.sin(angle), z))
    for ring in range(rings - 1):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            faces.append((a, b, b + sides, a + sides))
    vertices += [(0, 0, height), (0, 0, 0)]
    top, foot = len(vertices) - 2, len(vertices) - 1
    for side in range(sides):
        after = (side + 1) % sides
        last = (rings - 1) * sides
        faces.append((last + side, last + after, top))
        faces.append((after, side, foot))
    return vertices, faces


jelly = shot.mesh("Jelly", *mould(), stage.plain((0.85, 0.03, 0.09), 0.12, Transmission_Weight=0.35, IOR=1.35))
jelly.location = (0, 0, 0.115)
shot.soft(jelly, "Jelly", 3000, material_frequency=5, material_damping=1.5)
plate = shot.add(
    "primitive_cylinder_add",
    "Plate",
    stage.plain((0.92, 0.92, 0.90), 0.2),
    radius=0.95,
    depth=0.1,
    vertices=96,
    location=(0, 0, 0.05),
)
stage.flat_ends(plate)
shot.collider(plate, friction=4)
for frame, x in ((1, 0), (8, 0), (16, 0.07), (26, -0.07), (36, 0.07), (46, -0.07), (54, 0), (55, 0)):
    plate.location.x = x
    plate.keyframe_insert("location", index=0, frame=frame)
shot.floor((0.30, 0.20, 0.07))
shot.camera((0.7, -3.8, 1.6), (0, 0, 0.36), 30, (240, 210))
shot.finish([1, 13, 20, 28, 37, 46])
