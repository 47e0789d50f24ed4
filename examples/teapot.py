# SPDX-License-Identifier: GPL-3.0-or-later
"""A teapot of four open shells, which are joined where they touch, drops on its spout."""
import math

import figures
import stage

shot = stage.Shot("teapot", 100, __doc__)
vertices, triangles = figures.teapot()
pot = shot.mesh("Teapot", vertices / .249, triangles, stage.plain((.16, .42, .50), .25))
pot.scale = (.249, .249, .249)  # which need not be applied
pot.location, pot.rotation_euler = (0, 0, .95), (.15, math.radians(38), .35)
shot.soft(pot, "Flesh", 3000)
shot.floor(friction=.5)
shot.camera((.3, -5.2, 2.5), (-.05, .2, .5), 32)
shot.finish([1, 9, 11, 15, 24, 100])
