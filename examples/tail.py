# SPDX-License-Identifier: GPL-3.0-or-later
"""A tail whose root follows a rig; the rest swings after it."""

import math

import bpy
import stage

shot = stage.Shot("tail", 72, __doc__)
LENGTH, SIDES, RINGS = 1.7, 24, 48


def tapered():
    """A closed tail along x that gets thinner, bent up a little."""
    vertices, faces = [], []
    for ring in range(RINGS + 1):
        part = ring / RINGS
        radius = 0.17 * (1 - 0.72 * part) * min(1, math.sqrt(part * 14 + 0.05))
        radius *= min(1, math.sqrt((1 - part) * 12 + 0.001))
        for side in range(SIDES):
            angle = 2 * math.pi * side / SIDES
            vertices.append((LENGTH * part, radius * math.cos(angle), radius * math.sin(angle) + 0.35 * part * part))
    for ring in range(RINGS):
        for side in range(SIDES):
            a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
            faces.append((a, b, b + SIDES, a + SIDES))
    faces.append(range(SIDES - 1, -1, -1))
    faces.append(range(RINGS * SIDES, (RINGS + 1) * SIDES))
    return vertices, faces


fur = stage.checked((0.75, 0.33, 0.07), (0.92, 0.82, 0.66), 9, 0.7)
tail = shot.mesh("Tail", *tapered(), fur)
rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
shot.scene.collection.objects.link(rig)
bpy.context.view_layer.objects.active = rig
bpy.ops.object.mode_set(mode="EDIT")
bone = rig.data.edit_bones.new("Root")
bone.head, bone.tail = (0, 0, 0), (0.5, 0, 0)
bpy.ops.object.mode_set(mode="OBJECT")
everything = tail.vertex_groups.new(name="Root")
everything.add(range(len(tail.data.vertices)), 1, "REPLACE")
held = tail.vertex_groups.new(name="Held")
for vertex in tail.data.vertices:
    along = vertex.co.x / LENGTH
    if along < 0.16:
        held.add([vertex.index], 1, "REPLACE")
    elif along < 0.3:
        held.add([vertex.index], 0.3 * (0.3 - along) / 0.14, "REPLACE")
tail.parent = rig
tail.modifiers.new("Armature", "ARMATURE").object = rig

body = shot.add(
    "primitive_uv_sphere_add", "Body", stage.plain((0.75, 0.33, 0.07), 0.7), segments=48, ring_count=24, radius=0.55
)
body.scale, body.location = (1.3, 1, 1), (-0.62, 0, 0)
body.parent = rig
rig.location = (-0.2, 0, 1.0)
pose = rig.pose.bones["Root"]
pose.rotation_mode = "XYZ"
for frame, degrees in ((1, 0), (8, 0), (18, 45), (30, -45), (42, 45), (52, 0), (53, 0)):
    pose.rotation_euler = (0, 0, math.radians(degrees))
    pose.keyframe_insert("rotation_euler", frame=frame)
soft = shot.soft(tail, "Flesh", 2500, material_frequency=9, material_damping=4)
soft.start.use_pins, soft.start.pin_group = True, "Held"
shot.floor()
shot.camera((1.6, -4.3, 2.9), (0.18, 0, 0.85), 34)
shot.finish([1, 17, 23, 29, 36, 72])
