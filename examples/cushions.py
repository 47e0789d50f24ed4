# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten cushions fall on each other, settle and sleep."""

import random

import stage

COLOURS = ((0.70, 0.16, 0.14), (0.85, 0.55, 0.14), (0.16, 0.38, 0.58), (0.30, 0.46, 0.24), (0.52, 0.28, 0.48))

shot = stage.Shot("cushions", 160, __doc__)
chance = random.Random(5)
for number in range(10):
    cushion = shot.add("primitive_cube_add", f"Cushion {number + 1}", size=2)
    stage.divide(cushion, 15)
    for vertex in cushion.data.vertices:  # thick in the middle, thin at the seam, corners drawn out
        x, y, z = vertex.co
        full = ((1 - x**4) * (1 - y**4)) ** 0.5
        vertex.co = (
            0.42 * x * (1 - 0.1 * (1 - x * x) * y * y - 0.06 * (1 - y * y) * (x * x)),
            0.42 * y * (1 - 0.1 * (1 - y * y) * x * x - 0.06 * (1 - x * x) * (y * y)),
            z * (0.02 + 0.13 * full),
        )
    shot.dress(cushion, stage.plain(COLOURS[number % 5], 0.8))
    cushion.location = (chance.uniform(-0.25, 0.25), chance.uniform(-0.25, 0.25), 0.4 + 0.42 * number)
    cushion.rotation_euler = (chance.uniform(-0.5, 0.5), chance.uniform(-0.5, 0.5), chance.uniform(0, 3))
    shot.soft(cushion, "Foam", 500)
shot.floor(friction=0.6)
shot.scene.pliant.use_contacts = True
shot.camera((1.5, -6.0, 4.4), (-0.1, 0.2, 0.8), 34)
shot.finish([1, 12, 20, 32, 60, 160])
