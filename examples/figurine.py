# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure of glass with thin ears stands untouched for a second, until a ball strikes it."""

import figures
import stage

shot = stage.Shot("figurine", 72, __doc__)
vertices, triangles = figures.eared()
figure = shot.mesh("Figurine", vertices, triangles, stage.plain((0.62, 0.84, 0.86), 0.08))
figure.location.z = -vertices[:, 2].min()
soft = shot.soft(figure, "Glass-like", 2000)
soft.fracture.interior = stage.plain((0.30, 0.62, 0.60), 0.15)
ball = shot.add(
    "primitive_uv_sphere_add", "Ball", stage.plain((0.75, 0.25, 0.12), 0.35), radius=0.16, segments=48, ring_count=24
)
shot.collider(ball, shape="SPHERE")
for frame, x in ((1, -6.2), (24, -1.0), (40, 2.6), (72, 10)):
    ball.location = (x, -0.05, 1.15)
    ball.keyframe_insert("location", frame=frame)
shot.floor(friction=0.5)
shot.camera((1.2, -5.6, 2.1), (0.35, 0, 0.62), 32)
shot.finish([1, 24, 27, 30, 38, 72])
