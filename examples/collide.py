# SPDX-License-Identifier: GPL-3.0-or-later
"""Four soft Suzannes fly at each other without gravity, collide and bounce apart."""
import math

import stage

COLOURS = ((.80, .16, .10), (.95, .60, .08), (.12, .42, .70), (.18, .55, .22))
SPEED = 3.2

shot = stage.Shot("collide", 36, __doc__)
for number, colour in enumerate(COLOURS):
    angle = math.radians(45 + 90 * number)
    # a little off the centre: they leave spinning
    x, z = 1.75 * math.cos(angle), 1.75 * math.sin(angle)
    head = shot.add("primitive_monkey_add", f"Suzanne {number + 1}", stage.plain(colour, .45),
                    size=1.5, location=(x, .12 * (-1) ** number, z),
                    rotation=(0, math.radians(-20 + 35 * number), math.radians(-18 + 12 * number)))
    head.modifiers.new("Subdivision", "SUBSURF").levels = 1  # after the result
    head.modifiers["Subdivision"].render_levels = 1
    shot.soft(head, "Flesh", 2500, material_frequency=5, material_damping=1.5,
              particles_shells="TOGETHER",
              start_velocity=(-SPEED * math.cos(angle), 0, -SPEED * math.sin(angle)))
shot.scene.pliant.use_gravity = False
shot.scene.pliant.use_contacts = True
shot.scene.pliant.contact_friction = .3
shot.lights(sky=.75, at=(2.4, -4.2, 4.2))
shot.camera((.9, -9.5, 1.2), (0, 0, 0), 28, (240, 240))
shot.finish([1, 7, 9, 12, 17, 25])
