# SPDX-License-Identifier: GPL-3.0-or-later
"""Four soft Suzannes fly at each other without gravity, collide and bounce apart."""

import math

import stage

COLOURS = ((0.80, 0.16, 0.10), (0.95, 0.60, 0.08), (0.12, 0.42, 0.70), (0.18, 0.55, 0.22))
SPEED = 3.2

shot = stage.Shot("collide", 36, __doc__)
for number, colour in enumerate(COLOURS):
    angle = math.radians(45 + 90 * number)
    # a little off the centre: they leave spinning
    x, z = 1.75 * math.cos(angle), 1.75 * math.sin(angle)
    head = shot.add(
        "primitive_monkey_add",
        f"Suzanne {number + 1}",
        stage.plain(colour, 0.45),
        size=1.5,
        location=(x, 0.12 * (-1) ** number, z),
        rotation=(0, math.radians(-20 + 35 * number), math.radians(-18 + 12 * number)),
    )
    head.modifiers.new("Subdivision", "SUBSURF").levels = 1  # after the result
    head.modifiers["Subdivision"].render_levels = 1
    shot.soft(
        head,
        "Flesh",
        2500,
        material_frequency=5,
        material_damping=1.5,
        particles_shells="TOGETHER",
        start_velocity=(-SPEED * math.cos(angle), 0, -SPEED * math.sin(angle)),
    )
shot.scene.pliant.use_gravity = False
shot.scene.pliant.use_contacts = True
shot.scene.pliant.contact_friction = 0.3
shot.lights(sky=0.75, at=(2.4, -4.2, 4.2))
shot.camera((0.9, -9.5, 1.2), (0, 0, 0), 28, (240, 240))
shot.finish([1, 7, 9, 12, 17, 25])
