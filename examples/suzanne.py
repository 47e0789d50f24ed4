# SPDX-License-Identifier: GPL-3.0-or-later
"""Suzanne drops on cylinders, bends about them and tumbles down."""

import math

import stage

shot = stage.Shot("suzanne", 84, __doc__)
head = shot.add(
    "primitive_monkey_add",
    "Suzanne",
    stage.plain((0.62, 0.26, 0.10), 0.45),
    size=1.5,
    location=(0.1, 0, 2.75),
    rotation=(math.radians(-20), 0, math.radians(12)),
)
head.modifiers.new("Subdivision", "SUBSURF").levels = 1  # after the result
head.modifiers["Subdivision"].render_levels = 1
# the eyes are shells of their own, which should stay in their sockets
shot.soft(head, "Flesh", 3500, material_frequency=6, particles_shells="TOGETHER")
steel = stage.plain((0.20, 0.28, 0.36), 0.25, Metallic=0.8)
for number, (x, z) in enumerate(((-0.85, 1.2), (0.75, 1.5), (-0.05, 0.5))):
    bar = shot.add(
        "primitive_cylinder_add",
        f"Bar {number + 1}",
        steel,
        radius=0.2,
        depth=3.2,
        vertices=64,
        location=(x, 0, z),
        rotation=(math.radians(90), 0, 0),
    )
    stage.flat_ends(bar)
    shot.collider(bar, friction=0.3)
shot.floor(friction=0.6)
shot.camera((2.8, -7.2, 3.0), (0.4, 0, 1.5), 33)
shot.finish([1, 12, 17, 26, 40, 72])
