# SPDX-License-Identifier: GPL-3.0-or-later
"""Every difference between the Blenders that Pliant runs in: 4.2 and later.

Nothing else in the add-on looks at the version.
"""
import bpy

VERSION = bpy.app.version


def new_fcurve(datablock, data_path, index=0):
    """An F-curve on a data-block's own action, which is made where there is none."""
    animation = datablock.animation_data or datablock.animation_data_create()
    if animation.action is None:
        animation.action = bpy.data.actions.new(f"{datablock.name} Pliant")
    action = animation.action
    if hasattr(action, "fcurve_ensure_for_datablock"):  # slotted actions, 4.4 on
        return action.fcurve_ensure_for_datablock(datablock, data_path, index=index)
    return action.fcurves.find(data_path, index=index) or action.fcurves.new(data_path, index=index)


def point_shader(uniform):
    """The name of the built-in shader that draws points."""
    if VERSION >= (4, 5, 0):
        return "POINT_UNIFORM_COLOR" if uniform else "POINT_FLAT_COLOR"
    return "UNIFORM_COLOR" if uniform else "FLAT_COLOR"


def has_alembic():
    return bool(bpy.app.build_options.alembic)
