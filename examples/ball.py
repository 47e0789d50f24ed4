# SPDX-License-Identifier: GPL-3.0-or-later
"""A rubber ball on three levels of clusters falls, squashes, and bounces."""

import stage

shot = stage.Shot("ball", 60, __doc__)
ball = shot.add(
    "primitive_ico_sphere_add",
    "Ball",
    stage.checked((0.78, 0.05, 0.04), (0.95, 0.55, 0.06), 5),
    subdivisions=5,
    radius=0.5,
    location=(0, 0, 2.2),
)
# goals that follow a stretch, and a filling that keeps its volume: it bulges where it is squashed
shot.soft(
    ball,
    "Rubber",
    3000,
    clusters_levels=3,
    material_frequency=10,
    material_goal="LINEAR",
    material_use_pressure=True,
    material_pressure=2e5,
)
shot.floor(friction=0.6)
shot.camera((2.2, -5.5, 2.6), (0, 0, 1.3), 31)
shot.finish([1, 12, 16, 17, 19, 27])
