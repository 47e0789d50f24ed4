# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a mesh with cracks is drawn out at each frame, as its attribute "stretch".

The mesh itself can only carry what never changes: there "stretch" is the most of the whole bake. Where it
is asked for, a modifier right after the one that plays gives each vertex its stretch at the frame, from a
companion (nodes.py): in any result, in any Blender, with or without Pliant.
"""
import bpy
import numpy as np

from ..bake.output import write_pc2
from . import modifiers, nodes

NAME = "Pliant Stretch"


def add(obj, output, progress=None):
    """Gives an object that shows a BrokenOutput its stretch frame by frame."""
    path, result = output.path("stretch.pc2"), obj.pliant.result
    write_pc2(path, output.vertices, output.first, _rows(output, progress))
    result.values = nodes.companion(f"{obj.name} Stretch", output.vertices)
    modifiers.play(result.values, path, output.first)
    playback = modifiers.find_playback(obj)
    place = obj.modifiers.find(playback.name) + 1 if playback is not None else modifiers.split(obj)
    modifiers.insert(obj, place, NAME, "NODES").node_group = nodes.stretch_group(result.values)


def _rows(output, progress):
    row = np.zeros((output.vertices, 3), np.float32)
    for number, values in enumerate(output.stretches()):
        row[:, 0] = values
        yield row
        if progress:
            progress((number + 1) / output.count)


def remove(obj):
    """Takes that away again, where it is."""
    result, modifier = obj.pliant.result, obj.modifiers.get(NAME)
    if modifier is None or modifier.type != "NODES":
        return
    group, source = modifier.node_group, result.values
    obj.modifiers.remove(modifier)
    if group is not None and group.users == 0:
        bpy.data.node_groups.remove(group)
    result.values = None
    if source is not None and source.users == 0:
        nodes.remove_companion(source)
