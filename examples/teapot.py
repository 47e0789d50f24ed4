# SPDX-License-Identifier: GPL-3.0-or-later
"""A teapot of four open shells, which are joined where they touch, drops on its spout."""

import math

import figures
import stage

shot = stage.Shot("teapot", 100, __doc__)
vertices, triangles = figures.teapot()
pot = shot.mesh("Teapot", vertices / 0.249, triangles, stage.plain((0.16, 0.42, 0.50), 0.25))
pot.scale = (0.249, 0.249, 0.249)  # which need not be applied
pot.location, pot.rotation_euler = (0, 0, 0.95), (0.15, math.radians(38), 0.35)
shot.soft(pot, "Flesh", 3000)
shot.floor(friction=0.5)
shot.camera((0.3, -5.2, 2.5), (-0.05, 0.2, 0.5), 32)
shot.finish([1, 9, 11, 15, 24, 100])
