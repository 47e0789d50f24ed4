# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake as shape keys: kept in the .blend file, played without Pliant.

Absolute keys: one F-curve runs through them, two neighbours are blended at a time. Relative keys:
each has a value that is 1 at its frame and 0 at its neighbours; the only kind that FBX takes. Both
are as exact as Blender computes them: about 2e-5 of the motion between neighbouring frames for
absolute keys, 3e-6 of the largest coordinate for relative ones.

Shape keys come before all modifiers, so those that stand before the simulation have to be off.
"""

import numpy as np

from .. import compat

PREFIX = "Pliant"
MANY = 300  # frames above which keys are a burden to the file


def key_name(frame):
    return f"{PREFIX} {frame}"


def is_ours(block):
    name, _, frame = block.name.partition(" ")
    return name == PREFIX and frame.removeprefix("-").isdigit()


def own_keys(mesh):
    """Names of the keys that are not from a bake: the artist's."""
    blocks = mesh.shape_keys.key_blocks if mesh.shape_keys else ()
    theirs = [block.name for block in blocks if not is_ours(block)]
    if len(theirs) == 1 and theirs[0] == blocks[0].name and len(blocks) > 1:
        return []  # the basis that our keys stand on
    return theirs


def add(obj, start, rows, relative=False):
    """Gives an object without shape keys one key for each of the rows, from the frame `start`."""
    mesh = obj.data
    obj.shape_key_add(name="Basis", from_mix=False)
    keys = mesh.shape_keys
    blocks = []
    for index, row in enumerate(rows):
        block = obj.shape_key_add(name=key_name(start + index), from_mix=False)
        block.points.foreach_set("co", np.ascontiguousarray(row, np.float32).reshape(-1))
        block.interpolation = "KEY_LINEAR"
        block.value = 0.0  # Blender 5.2 adds keys at 1
        blocks.append(block)
    keys.use_relative = bool(relative)
    if relative:
        _animate_values(keys, start, blocks)
    else:
        _animate_time(keys, start, blocks)
    obj.active_shape_key_index = 0
    mesh.update_tag()


def _fill(curve, frames, values):
    """Straight lines between points."""
    curve.keyframe_points.add(len(frames))
    points = np.empty((len(frames), 2), np.float32)
    points[:, 0], points[:, 1] = frames, values
    curve.keyframe_points.foreach_set("co", points.reshape(-1))
    for point in curve.keyframe_points:
        point.interpolation = "LINEAR"
    curve.update()


def _animate_time(keys, start, blocks):
    # keyed from each key's own frame: 10 k is not always what Blender gives the k-th
    frames = range(start, start + len(blocks))
    _fill(compat.new_fcurve(keys, "eval_time"), frames, [block.frame for block in blocks])


def _animate_values(keys, start, blocks):
    paths = [block.path_from_id("value") for block in blocks]
    last = start + len(blocks) - 1
    for frame, curve in enumerate(compat.new_fcurves(keys, paths), start):
        near = [f for f in (frame - 1, frame, frame + 1) if start <= f <= last]
        _fill(curve, near, [float(f == frame) for f in near])


def remove(obj):
    """Takes our keys away. Keys that were added to them later stay."""
    keys = obj.data.shape_keys
    if keys is None:
        return
    action = keys.animation_data.action if keys.animation_data else None
    if own_keys(obj.data):
        _remove_curves(keys)
        for name in [block.name for block in keys.key_blocks if is_ours(block)]:
            obj.shape_key_remove(keys.key_blocks[name])
        keys.use_relative = True
    else:
        obj.shape_key_clear()
        compat.remove_unused_action(action)
    obj.data.update_tag()


def _remove_curves(keys):
    paths = {block.path_from_id("value") for block in keys.key_blocks if is_ours(block)}
    compat.remove_fcurves(keys, paths | {"eval_time"})
