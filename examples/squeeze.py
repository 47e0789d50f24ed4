# SPDX-License-Identifier: GPL-3.0-or-later
"""Two spinning rollers draw a soft ball in, squeeze it flat and spit it out below."""

import math

import stage

TURNS = 1.5  # of each roller, in the whole shot

shot = stage.Shot("squeeze", 72, __doc__)
ball = shot.add(
    "primitive_ico_sphere_add",
    "Ball",
    stage.checked((0.10, 0.35, 0.62), (0.85, 0.88, 0.90), 6, 0.35),
    subdivisions=6,
    radius=0.5,
    location=(0, 0, 3.05),
)
shot.soft(ball, "Jelly", 4000, material_frequency=4, material_damping=2)
for side in (-1, 1):
    roller = shot.add(
        "primitive_cylinder_add",
        "Left" if side < 0 else "Right",
        stage.checked((0.50, 0.50, 0.53), (0.60, 0.60, 0.63), 10, 0.4),
        smooth=False,
        vertices=96,
        radius=0.8,
        depth=2,
        location=(0.98 * side, 0, 1.7),
        rotation=(math.pi / 2, 0, 0),
    )
    shot.collider(roller, shape="MESH", friction=1.5)
    roller.keyframe_insert("rotation_euler", frame=1)
    roller.rotation_euler.y = -side * TURNS * 2 * math.pi
    roller.keyframe_insert("rotation_euler", frame=73)
shot.floor(friction=0.8)
shot.camera((0.7, -8.4, 2.3), (0, 0, 1.75), 26)
shot.finish([1, 13, 18, 23, 30, 48])
