# SPDX-License-Identifier: GPL-3.0-or-later
"""A soft ball falls onto a thin sheet that is held at its rim, presses a hollow into it and is held."""

import stage

SIDE, RIM, HIGH = 2.4, 0.06, 1.5

shot = stage.Shot("sheet", 72, __doc__)
sheet = shot.add(
    "primitive_grid_add",
    "Sheet",
    stage.checked((0.16, 0.42, 0.60), (0.88, 0.86, 0.78), 12, 0.7),
    x_subdivisions=72,
    y_subdivisions=72,
    size=SIDE,
    location=(0, 0, HIGH),
)
rim = sheet.vertex_groups.new(name="Rim")
rim.add([v.index for v in sheet.data.vertices if max(abs(v.co.x), abs(v.co.y)) > SIDE / 2 - RIM], 1, "REPLACE")
soft = shot.soft(sheet, "Sheet", 5300, particles_thickness=0.03, material_damping=4, material_frequency=6)
soft.start.use_pins, soft.start.pin_group = True, "Rim"

ball = shot.add(
    "primitive_ico_sphere_add",
    "Ball",
    stage.checked((0.80, 0.16, 0.10), (0.95, 0.60, 0.08), 6, 0.35),
    subdivisions=5,
    radius=0.36,
    location=(0.12, -0.08, HIGH + 0.9),
)
shot.soft(ball, "Jelly", 1500, material_damping=3, material_density=240)
shot.scene.pliant.use_contacts = True

wood = stage.plain((0.50, 0.33, 0.18), 0.6)
for side in (-1, 1):
    for turn in (0, 1):
        at = [0, 0, HIGH]
        at[turn] = side * (SIDE / 2)
        bar = shot.add("primitive_cube_add", f"Bar {side} {turn}", wood, smooth=False, size=1, location=at)
        bar.scale = (0.09, SIDE + 0.09, 0.09) if turn == 0 else (SIDE - 0.09, 0.09, 0.09)
        leg = shot.add(
            "primitive_cube_add",
            f"Leg {side} {turn}",
            wood,
            smooth=False,
            size=1,
            location=(side * SIDE / 2, (1 - 2 * turn) * SIDE / 2, HIGH / 2 - 0.023),
        )
        leg.scale = (0.09, 0.09, HIGH - 0.046)
shot.floor()
shot.camera((1.6, -6.4, 3.1), (0, 0, 1.45), 30, (270, 240))
shot.finish([1, 12, 16, 20, 32, 72])
