# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the result stands in an object's modifier stack.

The simulated mesh is the base mesh through the leading modifiers that only move vertices (armature,
hook, lattice ...). The playback modifier comes right after those: what is above it feeds the bake,
what is below it (subdivision, bevel ...) goes on working with the result.
"""
import os

import bpy

PLAYBACK_NAME = "Pliant"
# Modifiers that keep the number and the order of vertices.
DEFORMING = {
    "ARMATURE", "CAST", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_DEFORM",
    "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "CORRECTIVE_SMOOTH", "LAPLACIANSMOOTH",
    "SURFACE_DEFORM", "WARP", "WAVE", "VOLUME_DISPLACE", "MESH_CACHE", "MESH_SEQUENCE_CACHE",
    # these change no vertices at all
    "DATA_TRANSFER", "NORMAL_EDIT", "WEIGHTED_NORMAL", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT",
    "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY",
}


def is_playback(modifier):
    return modifier.type == "MESH_CACHE" and modifier.name.split(".")[0] == PLAYBACK_NAME


def split(obj):
    """How many leading modifiers feed the bake: those before the playback modifier if there is one,
    otherwise the leading deforming ones."""
    for index, modifier in enumerate(obj.modifiers):
        if is_playback(modifier) or modifier.type not in DEFORMING:
            return index
    return len(obj.modifiers)


def following(obj):
    """Names of the modifiers that are switched off while the mesh is captured."""
    return [m.name for m in list(obj.modifiers)[split(obj):] if m.show_viewport]


def find_playback(obj):
    return next((m for m in obj.modifiers if is_playback(m)), None)


def install_playback(obj, cache, body):
    """A Mesh Cache modifier that plays a body's point cache on an object; the one that is there is
    taken again, wherever it has been moved to."""
    modifier = find_playback(obj)
    if modifier is None:
        place = split(obj)
        modifier = obj.modifiers.new(PLAYBACK_NAME, "MESH_CACHE")
        obj.modifiers.move(len(obj.modifiers) - 1, place)
        modifier = obj.modifiers[place]
    modifier.cache_format = "PC2"
    modifier.filepath = blend_path(cache.pc2_path(body))
    modifier.play_mode = "SCENE"
    modifier.deform_mode = "OVERWRITE"
    modifier.interpolation = "LINEAR"
    modifier.time_mode = "FRAME"
    modifier.frame_start = cache.start
    modifier.frame_scale = 1.0
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.factor = 1.0
    modifier.show_viewport = modifier.show_render = True
    return modifier


def remove_playback(obj):
    """True if there was one."""
    modifier = find_playback(obj)
    if modifier is not None:
        obj.modifiers.remove(modifier)
    return modifier is not None


def plays_from(modifier, folder):
    """Whether a playback modifier's file is in a folder."""
    path = getattr(modifier, "filepath", "")
    return bool(path) and os.path.dirname(os.path.abspath(bpy.path.abspath(path))) == \
        os.path.abspath(folder)


def refresh(obj):
    """Has Blender read the point cache again: more frames are in it than it knew."""
    if find_playback(obj) is not None:
        obj.update_tag(refresh={"DATA"})


def blend_path(path):
    """A path as it is kept in the .blend: relative to it where both are on one drive."""
    path = str(path)
    if bpy.data.filepath:
        try:
            return bpy.path.relpath(path)
        except ValueError:  # another drive
            pass
    return path
