# SPDX-License-Identifier: GPL-3.0-or-later
"""A die into which a star and a rim are cut comes down on a lead blank, which has both afterwards."""

import math

import stage

shot = stage.Shot("coin", 60, __doc__)
RADIUS, THICK = 0.62, 0.2


def disc(radius, thick, rings=40, sides=128, relief=None):
    """A closed disc about the origin with an even grid on both sides; "relief" lowers the lower one."""
    vertices, faces = [], []
    for face in (1, -1):
        vertices.append((0, 0, face * thick / 2))
        for ring in range(1, rings + 1):
            for side in range(sides):
                a, r = 2 * math.pi * side / sides, radius * ring / rings
                vertices.append((r * math.cos(a), r * math.sin(a), face * thick / 2))
    half = 1 + rings * sides

    def at(face, ring, side):
        return face * half + (0 if ring == 0 else 1 + (ring - 1) * sides + side % sides)

    for face in (0, 1):
        for side in range(sides):
            for ring in range(rings):
                quad = [
                    at(face, ring, side),
                    at(face, ring + 1, side),
                    at(face, ring + 1, side + 1),
                    at(face, ring, side + 1),
                ]
                quad = quad[:3] if ring == 0 else quad
                faces.append(quad if face == 0 else quad[::-1])
    for side in range(sides):
        faces.append([at(0, rings, side), at(1, rings, side), at(1, rings, side + 1), at(0, rings, side + 1)])
    if relief:
        vertices = [(x, y, z - relief(math.hypot(x, y), math.atan2(y, x)) if z < 0 else z) for x, y, z in vertices]
    return vertices, faces


def star(radius, angle, height=0.07):
    """All but a five-pointed star and a rim, with sloping flanks."""
    turned = (angle / (2 * math.pi) * 5 + 0.25) % 1
    edge = 0.44 - 0.25 * abs(2 * turned - 1) ** 0.7
    inside = max(0.0, min(1.0, (edge - radius) / 0.05))
    rim = max(0.0, min(1.0, (0.09 - abs(radius - 0.6)) / 0.05))
    return height * (1 - max(inside, rim))


blank = shot.mesh("Coin", *disc(RADIUS, THICK), stage.plain((0.70, 0.33, 0.16), 0.45, Metallic=0.35))
blank.location.z = THICK / 2 + 0.002
shot.soft(
    blank, "Lead", 20000, clusters_count_mode="COUNT", clusters_count=4500, clusters_overlap=4, material_plastic_limit=0
)
die = shot.mesh("Die", *disc(0.8, 0.3, 64, 160, star), stage.plain((0.30, 0.33, 0.38), 0.25, Metallic=1), smooth=False)
shot.collider(die, shape="MESH", friction=0.4)
for frame, z in ((1, 0.75), (6, 0.75), (24, 0.36), (30, 0.36), (42, 3.0)):
    die.location.z = z
    die.keyframe_insert("location", index=2, frame=frame)
shot.floor(friction=1)
shot.lights(sky=0.4, sun=3.2, at=(2.4, 0.6, 1.1))
shot.camera((0.6, -2.3, 2.9), (0, 0, 0.12), 28)
shot.finish([1, 16, 24, 34, 44, 60])
