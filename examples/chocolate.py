# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar of chocolate is bent by its ends, as by hands, and snaps along a groove."""

import stage

LENGTH, WIDTH, HEIGHT, GROOVE = 2.1, 0.9, 0.15, 0.07
ROWS, COLUMNS, STEPS = 7, 3, 6  # pieces along x and y, faces across each

shot = stage.Shot("chocolate", 40, __doc__)


def height(u):
    """Of the profile across one piece, 0 to 1: flat, with slanting sides."""
    return min(1.0, 4.5 * min(u, 1 - u))


def bar():
    """A flat bottom, a top with grooves, walls between."""
    nx, ny = ROWS * STEPS, COLUMNS * STEPS
    points, faces = [], []
    for top in (0, 1):
        for i in range(nx + 1):
            for j in range(ny + 1):
                rise = min(height(i % STEPS / STEPS), height(j % STEPS / STEPS))
                points.append(
                    (LENGTH * (i / nx - 0.5), WIDTH * (j / ny - 0.5), (GROOVE + (HEIGHT - GROOVE) * rise) * top)
                )
    layer = (nx + 1) * (ny + 1)

    def at(i, j, top):
        return top * layer + i * (ny + 1) + j

    for i in range(nx):
        for j in range(ny):
            faces.append((at(i, j, 1), at(i + 1, j, 1), at(i + 1, j + 1, 1), at(i, j + 1, 1)))
            faces.append((at(i, j, 0), at(i, j + 1, 0), at(i + 1, j + 1, 0), at(i + 1, j, 0)))
    for i in range(nx):
        faces.append((at(i, 0, 0), at(i + 1, 0, 0), at(i + 1, 0, 1), at(i, 0, 1)))
        faces.append((at(i + 1, ny, 0), at(i, ny, 0), at(i, ny, 1), at(i + 1, ny, 1)))
    for j in range(ny):
        faces.append((at(0, j + 1, 0), at(0, j, 0), at(0, j, 1), at(0, j + 1, 1)))
        faces.append((at(nx, j, 0), at(nx, j + 1, 0), at(nx, j + 1, 1), at(nx, j, 1)))
    return points, faces


chocolate = shot.mesh("Chocolate", *bar(), stage.plain((0.10, 0.038, 0.018), 0.32), smooth=False)
chocolate.location.z = 0.8
shot.hands(chocolate, [(1, 0, 0, 0), (4, 0, 0, 0), (12, 14, 0, 0.02), (16, 18, 0, 0.1), (40, 24, 0, 0.3)])
held = chocolate.vertex_groups.new(name="Held")
held.add([v.index for v in chocolate.data.vertices if abs(v.co.x) > 0.11 * LENGTH], 1.0, "REPLACE")
for edge in chocolate.data.edges:  # weak along the grooves
    ends = [chocolate.data.vertices[v].co for v in edge.vertices]
    edge.use_seam = min(max(abs(end.x - LENGTH * (k / ROWS - 0.5)) for end in ends) for k in range(1, ROWS)) < 1e-6
soft = shot.soft(chocolate, "Chocolate", 3000)
soft.start.use_pins, soft.start.pin_group = True, "Held"
soft.fracture.interior = stage.plain((0.20, 0.095, 0.05), 0.75)
soft.fracture.seam_edges = "SEAM"
soft.fracture.most_pieces = 4
shot.floor()
shot.camera((1.6, -3.9, 3.0), (0, 0, 0.75), 34, (260, 200))
shot.finish([1, 10, 13, 16, 24, 40])
