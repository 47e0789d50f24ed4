# SPDX-License-Identifier: GPL-3.0-or-later
"""A balloon sinks to the floor, is pressed by a board, and springs up again."""

import math

import stage

shot = stage.Shot("balloon", 110, __doc__)


def balloon(rings=40, sides=56, radius=0.6):
    """A ball drawn out to a neck below."""
    vertices, faces = [(0, 0, radius)], []
    for ring in range(1, rings):
        angle = math.pi * ring / rings
        r, z = radius * math.sin(angle), radius * math.cos(angle)
        below = max(0, -z / radius)
        r *= 1 - 0.22 * below**2
        z -= 0.28 * radius * below**3
        for side in range(sides):
            turn = 2 * math.pi * side / sides
            vertices.append((r * math.cos(turn), r * math.sin(turn), z))
    vertices.append((0, 0, -radius * 1.28))
    for ring in range(rings - 2):
        for side in range(sides):
            a, b = 1 + ring * sides + side, 1 + ring * sides + (side + 1) % sides
            faces.append((a, a + sides, b + sides, b))
    last = 1 + (rings - 2) * sides
    for side in range(sides):
        after = (side + 1) % sides
        faces.append((0, 1 + side, 1 + after))
        faces.append((last + after, last + side, len(vertices) - 1))
    return vertices, faces


toy = shot.mesh("Balloon", *balloon(), stage.plain((0.10, 0.45, 0.75), 0.12, Transmission_Weight=0.25, IOR=1.1))
toy.location = (0, 0, 1.9)
toy.rotation_euler = (math.radians(25), math.radians(15), 0)
shot.soft(toy, "Balloon", 2600, material_frequency=14, material_drag=5)
board = shot.add("primitive_cube_add", "Board", stage.plain((0.55, 0.36, 0.18), 0.5), smooth=False, size=1)
board.scale = (2.0, 1.2, 0.1)
shot.collider(board, friction=0.6)
for frame, z in ((1, 3.4), (50, 3.4), (74, 0.62), (82, 0.62), (90, 3.4)):
    board.location.z = z
    board.keyframe_insert("location", index=2, frame=frame)
shot.floor(friction=0.6)
shot.camera((2.4, -6.2, 2.3), (0, 0, 1.15), 30)
shot.finish([1, 24, 46, 68, 80, 110])
