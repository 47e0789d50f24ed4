# SPDX-License-Identifier: GPL-3.0-or-later
"""A flag of thin sheet, pinned to its pole, in a gusty wind."""

import math

import bpy
import stage

WIDE, HIGH = 1.6, 1.0

shot = stage.Shot("flag", 96, __doc__)
flag = shot.add(
    "primitive_grid_add",
    "Flag",
    stage.stripes(((0.70, 0.04, 0.06), (0.93, 0.90, 0.85), (0.03, 0.16, 0.45))),
    x_subdivisions=64,
    y_subdivisions=40,
    size=1,
)
flag.scale, flag.rotation_euler = (WIDE, HIGH, 1), (math.radians(90), 0, 0)
flag.location = (WIDE / 2, 0, 1.9)
group = flag.vertex_groups.new(name="Pole")
group.add([v.index for v in flag.data.vertices if v.co.x < -0.46], 1, "REPLACE")
soft = shot.soft(flag, "Sheet", 2400, particles_thickness=0.005)
soft.start.use_pins, soft.start.pin_group = True, "Pole"

pole = shot.add(
    "primitive_cylinder_add",
    "Pole",
    stage.plain((0.75, 0.72, 0.65), 0.3),
    radius=0.03,
    depth=2.6,
    location=(-0.03, 0, 1.3),
)
knob = shot.add(
    "primitive_uv_sphere_add",
    "Knob",
    stage.plain((0.85, 0.60, 0.15), 0.25, Metallic=1),
    radius=0.06,
    location=(-0.03, 0, 2.63),
)
bpy.ops.object.effector_add(type="WIND", location=(-3, -1, 1.9), rotation=(0, math.radians(90), math.radians(10)))
wind = bpy.context.object.field
wind.strength, wind.flow = 14, 0
bpy.ops.object.effector_add(type="TURBULENCE", location=(0, 0, 1.9))
gusts = bpy.context.object
gusts.field.strength, gusts.field.size, gusts.field.flow = 30, 0.7, 0
gusts.keyframe_insert("location", index=0, frame=1)
gusts.location.x = 14  # the gusts travel with the wind
gusts.keyframe_insert("location", index=0, frame=96)
shot.floor((0.22, 0.36, 0.14))
shot.camera((0.75, -5.6, 1.7), (0.75, 0, 1.55), 30, (270, 220))
shot.finish([1, 12, 28, 48, 70, 96])
