# SPDX-License-Identifier: GPL-3.0-or-later
"""A clay ball drops, is pressed by a steel ball, and keeps the dents of both."""

import stage

shot = stage.Shot("clay", 80, __doc__)
ball = shot.add(
    "primitive_ico_sphere_add",
    "Clay",
    stage.checked((0.46, 0.17, 0.08), (0.56, 0.23, 0.11), 5, 0.6),
    subdivisions=6,
    radius=0.5,
    location=(0, 0, 0.8),
)
# small clusters: a dent is as fine as they are
shot.soft(
    ball, "Clay", 8000, clusters_count_mode="COUNT", clusters_count=1500, clusters_overlap=4, material_hardening=0.12
)
steel = shot.add(
    "primitive_uv_sphere_add",
    "Steel",
    stage.plain((0.75, 0.77, 0.80), 0.18, Metallic=1),
    segments=64,
    ring_count=32,
    radius=0.3,
)
shot.collider(steel, shape="SPHERE", friction=0.3)
for frame, z in ((1, 1.85), (22, 1.85), (42, 0.70), (50, 0.70), (64, 1.85)):
    steel.location.z = z
    steel.keyframe_insert("location", index=2, frame=frame)
shot.floor(friction=1)
shot.camera((1.3, -3.3, 3.7), (0, 0, 0.55), 28)
shot.finish([1, 14, 32, 46, 58, 80])
