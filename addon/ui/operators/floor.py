# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Floor: a plane collider below the soft bodies."""

import bpy
from mathutils import Vector

from ...blender.roles import count_bodies, problem_of

FLOOR_SIZE = 20.0  # times the size of the bodies
LEVEL = 0.02  # slope below which a plane is level


def floor_like(scene, low, high):
    """An existing floor below soft bodies with these corners: a flat, level mesh that extends
    beyond them on all sides. The highest of several, or None."""
    found = []
    layer = bpy.context.view_layer
    for obj in scene.objects:
        if (
            obj.type != "MESH"
            or obj.pliant.role != "NONE"
            or not len(obj.data.polygons)
            or obj.name not in layer.objects
            or obj.hide_get()
            or obj.hide_viewport
            or problem_of(obj, "COLLIDER") is not None
        ):
            continue
        corners = [obj.matrix_world @ Vector(corner) for corner in obj.bound_box]
        under, over = (Vector(choose(c[k] for c in corners) for k in range(3)) for choose in (min, max))
        wide = min(over.x - under.x, over.y - under.y)
        reaches = all(under[k] <= low[k] and over[k] >= high[k] for k in range(2))
        # as thin as a plane; bodies may touch it or penetrate it slightly
        if reaches and over.z - under.z <= LEVEL * wide and over.z <= low.z + 0.1 * max(high.z - low.z, 1e-6):
            found.append((over.z, obj.name, obj))
    return max(found)[2] if found else None


class PLIANT_OT_add_floor(bpy.types.Operator):
    """Make the plane below the soft bodies a collider, or add one if there is none. It is an \
ordinary object: move or tilt it, or make another object a collider instead"""

    bl_idname = "pliant.add_floor"
    bl_label = "Add Floor"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT":
            cls.poll_message_set("Only in object mode")
            return False
        if not count_bodies(context.scene):
            cls.poll_message_set("Make an object a soft body first")
            return False
        return True

    def execute(self, context):
        bodies = [o for o in context.scene.objects if o.pliant.role == "BODY"]
        corners = [o.matrix_world @ Vector(corner) for o in bodies for corner in o.bound_box]
        low, high = (Vector(choose(c[k] for c in corners) for k in range(3)) for choose in (min, max))
        there = floor_like(context.scene, low, high)
        if there is not None:
            there.pliant.role = "COLLIDER"
            self.report({"INFO"}, f"'{there.name}' is now a collider: the floor")
            return {"FINISHED"}
        side = max(*(high - low), 1e-3)
        # no lower than the bodies' own height: bodies that stand on the ground stay there
        height = 0.0 if 0 <= low.z < 4 * side else low.z - side
        half = FLOOR_SIZE * side / 2
        mesh = bpy.data.meshes.new("Floor")
        mesh.from_pydata([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)])
        floor = bpy.data.objects.new("Floor", mesh)
        floor.location = ((low.x + high.x) / 2, (low.y + high.y) / 2, height)
        context.collection.objects.link(floor)
        floor.pliant.role = "COLLIDER"
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((PLIANT_OT_add_floor,))
