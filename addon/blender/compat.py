# SPDX-License-Identifier: GPL-3.0-or-later
"""All differences between the supported versions of Blender: 4.2 and later.

No other module checks the version.
"""

import bpy

VERSION = bpy.app.version


def _action(datablock):
    """A data-block's own action; created if there is none."""
    animation = datablock.animation_data or datablock.animation_data_create()
    if animation.action is None:
        animation.action = bpy.data.actions.new(f"{datablock.name} Pliant")
    return animation.action


def new_fcurve(datablock, data_path, index=0):
    """An F-curve on a data-block's own action; created if there is none."""
    action = _action(datablock)
    if hasattr(action, "fcurve_ensure_for_datablock"):  # slotted actions, 4.4 on
        return action.fcurve_ensure_for_datablock(datablock, data_path, index=index)
    return action.fcurves.find(data_path, index=index) or action.fcurves.new(data_path, index=index)


def fill_fcurve(curve, start, values):
    """Linear interpolation through values, one a frame from `start` on."""
    curve.keyframe_points.add(len(values))
    points = [number for pair in enumerate(values, start) for number in pair]
    curve.keyframe_points.foreach_set("co", points)
    for point in curve.keyframe_points:
        point.interpolation = "LINEAR"
    curve.update()


def new_fcurves(datablock, data_paths):
    """Many new F-curves, in order."""
    first = new_fcurve(datablock, data_paths[0])
    curves = _fcurves(datablock)
    return [first] + [curves.new(path) for path in data_paths[1:]]


def _fcurves(datablock):
    """The F-curves that animate a data-block, as Blender's collection, or None."""
    animation = datablock.animation_data
    action = animation.action if animation else None
    if action is None:
        return None
    if hasattr(action, "fcurves") and not hasattr(action, "layers"):
        return action.fcurves
    slot = animation.action_slot
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot) if slot else None
            if bag is not None:
                return bag.fcurves
    return None


def remove_fcurves(datablock, data_paths):
    curves = _fcurves(datablock)
    for curve in [c for c in curves or () if c.data_path in data_paths]:
        curves.remove(curve)


def remove_unused_action(action):
    """Removes an action whose data-block is gone, if it has no other user."""
    if action is not None and action.users == 0 and not action.use_fake_user:
        bpy.data.actions.remove(action)


def point_shader(uniform):
    """Name of the built-in shader for points."""
    if VERSION >= (4, 5, 0):
        return "POINT_UNIFORM_COLOR" if uniform else "POINT_FLAT_COLOR"
    return "UNIFORM_COLOR" if uniform else "FLAT_COLOR"


def has_alembic():
    return bool(bpy.app.build_options.alembic)


def has_freestyle_marks(mesh):
    """Whether edges have mark properties of their own; from 5.0 on marks are attributes."""
    return "use_freestyle_mark" in bpy.types.MeshEdge.bl_rna.properties


def voxels_by_size(node):
    """Sets a Points to Volume node to voxel size instead of voxel amount."""
    if hasattr(node, "resolution_mode"):
        node.resolution_mode = "VOXEL_SIZE"
    else:  # 5.0 on
        node.inputs["Resolution Mode"].default_value = "Size"


def voxel_size_socket(node):
    return next(s for s in node.inputs if s.name == "Voxel Size" and s.enabled)


def relative_path():
    """Options of a path property that may begin with "//": required from 4.5 on."""
    return {"PATH_SUPPORTS_BLEND_RELATIVE"} if VERSION >= (4, 5) else set()
