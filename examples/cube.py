# SPDX-License-Identifier: GPL-3.0-or-later
"""A cube hovers, is stretched to twice its length, let go, and swings back."""

import stage

STRETCHED = 24  # the frame at which it is let go

shot = stage.Shot("cube", 72, __doc__)
cube = shot.add(
    "primitive_cube_add",
    "Cube",
    stage.checked((0.03, 0.30, 0.62), (0.75, 0.88, 0.95), 4, 0.35),
    smooth=False,
    size=1,
    location=(0, 0, 1.3),
)
bevel = cube.modifiers.new("Bevel", "BEVEL")  # after the result: it goes on working with it
bevel.width, bevel.segments = 0.03, 3
stage.divide(cube, 10)
for frame, scale in ((1, (1, 1, 1)), (STRETCHED, (2, 0.75, 0.75))):
    cube.scale = scale
    cube.keyframe_insert("scale", frame=frame)
soft = shot.soft(cube, "Jelly", 2500, material_frequency=4, material_damping=9)
soft.start.use_follow, soft.start.release_frame = True, STRETCHED
shot.scene.use_gravity = False  # it hovers
shot.floor()
shot.camera((1.9, -5.0, 2.7), (0, 0, 1.12), 29)
shot.finish([1, 24, 26, 28, 32, 72])
