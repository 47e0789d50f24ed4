# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten cushions fall on each other, settle and sleep."""
import random

import stage

COLOURS = ((.70, .16, .14), (.85, .55, .14), (.16, .38, .58), (.30, .46, .24), (.52, .28, .48))

shot = stage.Shot("cushions", 160, __doc__)
chance = random.Random(5)
for number in range(10):
    cushion = shot.add("primitive_cube_add", f"Cushion {number + 1}", size=2)
    stage.divide(cushion, 15)
    for vertex in cushion.data.vertices:  # thick in the middle, thin at the seam, corners drawn out
        x, y, z = vertex.co
        full = ((1 - x ** 4) * (1 - y ** 4)) ** .5
        vertex.co = (.42 * x * (1 - .1 * (1 - x * x) * y * y - .06 * (1 - y * y) * (x * x)),
                     .42 * y * (1 - .1 * (1 - y * y) * x * x - .06 * (1 - x * x) * (y * y)),
                     z * (.02 + .13 * full))
    shot.dress(cushion, stage.plain(COLOURS[number % 5], .8))
    cushion.location = (chance.uniform(-.25, .25), chance.uniform(-.25, .25), .4 + .42 * number)
    cushion.rotation_euler = (chance.uniform(-.5, .5), chance.uniform(-.5, .5), chance.uniform(0, 3))
    shot.soft(cushion, "Foam", 500)
shot.floor(friction=.6)
shot.scene.pliant.use_contacts = True
shot.camera((1.5, -6.0, 4.4), (-.1, .2, .8), 34)
shot.finish([1, 12, 20, 32, 60, 160])
