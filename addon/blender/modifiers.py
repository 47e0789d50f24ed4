# SPDX-License-Identifier: GPL-3.0-or-later
"""The position of the result in an object's modifier stack.

The simulated mesh is the base mesh after the leading modifiers that only move vertices (armature,
hook, lattice ...). The playback modifier comes right after those: modifiers before it are input of
the bake, modifiers after it (subdivision, bevel ...) act on the result.
"""

import contextlib
import os

import bpy

from ..bake import files

PLAYBACK_NAME = "Pliant"
# Modifiers that keep the number and the order of vertices.
DEFORMING = {
    "ARMATURE",
    "CAST",
    "CURVE",
    "DISPLACE",
    "HOOK",
    "LAPLACIANDEFORM",
    "LATTICE",
    "MESH_DEFORM",
    "SHRINKWRAP",
    "SIMPLE_DEFORM",
    "SMOOTH",
    "CORRECTIVE_SMOOTH",
    "LAPLACIANSMOOTH",
    "SURFACE_DEFORM",
    "WARP",
    "WAVE",
    "VOLUME_DISPLACE",
    "MESH_CACHE",
    "MESH_SEQUENCE_CACHE",
    # these change no vertices at all
    "DATA_TRANSFER",
    "NORMAL_EDIT",
    "WEIGHTED_NORMAL",
    "UV_PROJECT",
    "UV_WARP",
    "VERTEX_WEIGHT_EDIT",
    "VERTEX_WEIGHT_MIX",
    "VERTEX_WEIGHT_PROXIMITY",
}
# Modifiers that may change vertex groups.
WEIGHING = {"DATA_TRANSFER", "NODES", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY"}
# Modifiers whose additions look like parts of the body.
ADDING = {"ARRAY", "MIRROR", "SCREW", "SKIN"}
# Modifiers by which a rig moves a mesh.
RIG = {"ARMATURE", "CURVE", "HOOK", "LATTICE", "MESH_DEFORM", "SURFACE_DEFORM"}


def is_playback(modifier):
    return modifier.type in ("MESH_CACHE", "MESH_SEQUENCE_CACHE") and modifier.name.split(".")[0] == PLAYBACK_NAME


def split(obj):
    """Number of leading modifiers that are input of the bake: those before the playback modifier if
    there is one, otherwise the leading deforming ones."""
    for index, modifier in enumerate(obj.modifiers):
        if is_playback(modifier) or modifier.type not in DEFORMING:
            return index
    return len(obj.modifiers)


def weigh(obj):
    """Whether modifiers may change vertex groups before the bake."""
    return any(m.type in WEIGHING for m in list(obj.modifiers)[: split(obj)])


def following(obj):
    """Names of the modifiers that are switched off while the mesh is captured."""
    return [m.name for m in list(obj.modifiers)[split(obj) :] if m.show_viewport]


def left_out(obj):
    """Kinds of modifiers after the result that add what looks like a part of the body, as "its
    Mirror modifier"; empty: none."""
    found = [m for m in list(obj.modifiers)[split(obj) :] if m.type in ADDING and m.show_viewport]
    names = " and ".join(dict.fromkeys(m.bl_rna.name.removesuffix(" Modifier") for m in found))
    return f"its {names} modifier{'s' if ' and ' in names else ''}" if found else ""


def late_rig(obj):
    """A sentence, without its full stop, on a rig's modifier that comes after one that makes
    vertices, and therefore acts on the result and not on the body; or None. A modifier right
    after the result is taken as intended."""
    after = [
        m
        for m in list(obj.modifiers)[split(obj) :]
        if m.show_viewport and not is_playback(m) and not m.name.startswith(f"{PLAYBACK_NAME} ")
    ]
    if not after or after[0].type in DEFORMING:
        return None
    late = next((m for m in after if m.type in RIG), None)
    return late and (
        f"its modifier {late.name} comes after {after[0].name}, so it moves the result, "
        f"not the body: move it up, or apply {after[0].name}"
    )


def find_playback(obj):
    return next((m for m in obj.modifiers if is_playback(m)), None)


def after_playback(obj):
    """Names of the modifiers that come after the result."""
    names = [m.name for m in obj.modifiers]
    playback = find_playback(obj)
    return names[names.index(playback.name) + 1 :] if playback else []


def insert(obj, place, name, kind):
    """A new modifier at a given place. Blender adds it at the end, or before modifiers that are
    pinned there."""
    name = obj.modifiers.new(name, kind).name
    obj.modifiers.move(obj.modifiers.find(name), place)
    return obj.modifiers[name]


def install_playback(obj, cache, body):
    """A Mesh Cache modifier that plays a body's point cache on an object; an existing one is reused
    in its place."""
    return play(obj, cache.pc2_path(body), cache.start)


def play(obj, path, start, file_format="PC2"):
    """A Mesh Cache modifier that plays a file whose first row is the frame `start`."""
    modifier = find_playback(obj)
    if modifier is None or modifier.type != "MESH_CACHE":
        place = split(obj)
        remove_playback(obj)
        modifier = insert(obj, place, PLAYBACK_NAME, "MESH_CACHE")
    modifier.cache_format = file_format
    modifier.filepath = blend_path(path)
    modifier.play_mode = "SCENE"
    modifier.deform_mode = "OVERWRITE"
    modifier.interpolation = "LINEAR"
    modifier.time_mode = "FRAME"
    modifier.frame_start = start
    modifier.frame_scale = 1.0
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.factor = 1.0
    modifier.vertex_group = ""
    modifier.show_viewport = modifier.show_render = True
    return modifier


@contextlib.contextmanager
def switched_off(obj, names):
    """Switches modifiers off temporarily, in the viewport and in renders."""
    kept = [(name, obj.modifiers[name].show_viewport, obj.modifiers[name].show_render) for name in names]
    try:
        for name, *_ in kept:
            obj.modifiers[name].show_viewport = obj.modifiers[name].show_render = False
        yield
    finally:
        for name, viewport, render in kept:
            obj.modifiers[name].show_viewport = viewport
            obj.modifiers[name].show_render = render


def remove_playback(obj):
    """True if there was one."""
    modifier = find_playback(obj)
    if modifier is not None:
        obj.modifiers.remove(modifier)
    return modifier is not None


def plays_from(modifier, folder):
    """Whether a playback modifier's file is in a folder."""
    read = modifier.cache_file if modifier.type == "MESH_SEQUENCE_CACHE" else modifier
    return read is not None and is_in(read.filepath, folder)


def is_in(path, folder):
    """Whether a path, as kept in the .blend, is that of a file in a folder."""
    if not path:
        return False
    place = os.path.dirname(os.path.abspath(bpy.path.abspath(path)))
    return place == os.path.abspath(folder) or files.same(place, folder)


def refresh(obj):
    """Makes Blender read the point cache again after frames were added."""
    if find_playback(obj) is not None:
        obj.update_tag(refresh={"DATA"})


def blend_path(path):
    """A path as it is stored in the .blend file: relative if both are on one drive."""
    path = str(path)
    if bpy.data.filepath:
        try:
            return bpy.path.relpath(path)
        except ValueError:  # another drive
            pass
    return path
