# SPDX-License-Identifier: GPL-3.0-or-later
"""Three soft balls fall through rows of pegs, each other's way included."""

import math

import stage

ROWS, GAP = 4, 0.95
COLOURS = ((0.78, 0.10, 0.12), (0.95, 0.62, 0.06), (0.10, 0.40, 0.72))

shot = stage.Shot("plinko", 96, __doc__)
for number, colour in enumerate(COLOURS):
    ball = shot.add(
        "primitive_ico_sphere_add",
        f"Ball {number + 1}",
        stage.plain(colour, 0.3),
        subdivisions=5,
        radius=0.4,
        location=(0.55 * (number - 1) + 0.07, 0, 4.6 + 0.75 * (number % 2)),
    )
    shot.soft(ball, "Rubber", 2500, material_frequency=6)
for row in range(ROWS):
    for column in range(4 + row % 2):
        x = (column - (3 + row % 2) / 2) * GAP
        peg = shot.add(
            "primitive_cylinder_add",
            f"Peg {row + 1} {column + 1}",
            stage.plain((0.55, 0.57, 0.60), 0.4),
            vertices=48,
            radius=0.13,
            depth=1.4,
            location=(x, 0, 0.95 + 0.8 * row),
            rotation=(math.pi / 2, 0, 0),
        )
        shot.collider(peg, shape="CYLINDER", friction=0.1)
for side in (-1, 1):  # panes, of which only the thickness shows
    wall = shot.add(
        "primitive_cube_add", "Front" if side < 0 else "Back", size=1, location=(0, 0.72 * side, 3), scale=(6, 0.4, 7)
    )
    wall.hide_render = True
    shot.collider(wall, shape="BOX", friction=0)
    wall = shot.add(
        "primitive_cube_add",
        "Left" if side < 0 else "Right",
        stage.plain((0.60, 0.62, 0.65), 0.5),
        size=1,
        location=(2.25 * side, 0, 1.7),
        scale=(0.3, 1, 3.4),
    )
    shot.collider(wall, shape="BOX", friction=0.1)
shot.floor(friction=0.5)
shot.scene.pliant.use_contacts = True
shot.scene.pliant.contact_friction = 0.1
shot.camera((0, -11.5, 3.4), (0, 0, 2.45), 27, (200, 240))
shot.finish([1, 14, 24, 34, 50, 96])
