# SPDX-License-Identifier: GPL-3.0-or-later
"""What changes from frame to frame besides positions, as attributes of the mesh that shows a bake.

    stretch         of a mesh with cracks: how far it is drawn out. The mesh itself can only carry what
                    never changes: there it is the most of the whole bake
    plastic_strain  of a body that flows: how much the material there has flowed since the start
    renewed         the same: how much of it is in clusters that were made anew since: 0 to 1

Where they are asked for, a modifier right after the one that plays gives them to each vertex, from a
companion (nodes.py): in any result, in any Blender, with or without Pliant. The object's own mesh is left
alone, whatever attributes it has.
"""

import bpy
import numpy as np

from ...bake.output import write_pc2
from ...solver import Channel
from .. import modifiers
from . import nodes

NAME = "Pliant Attributes"
FORMER = "Pliant Stretch"  # name of the modifier in earlier versions
CHANNELS = {"stretch": Channel.STRETCH, "plastic_strain": Channel.PLASTIC_STRAIN, "renewed": Channel.RENEWED}


def wanted(pliant, is_cut):
    """Names of the attributes that a body's settings ask for."""
    names = ["stretch"] if is_cut and pliant.fracture.use_stretch else []
    if pliant.material.use_strain_attribute:
        names += ["plastic_strain", "renewed"]
    return names


def add(obj, output, names, progress=None):
    """Adds those attributes to an object that shows an Output, frame by frame; those of flow only
    if something flows."""
    if "plastic_strain" in names and not output.flows():
        names = [name for name in names if name == "stretch"]
    if not names:
        return
    path, result = output.path("attributes.pc2"), obj.pliant.result
    write_pc2(path, output.vertices, output.first, _rows(output, names, progress))
    result.values = nodes.companion(f"{obj.name} Attributes", output.vertices)
    modifiers.play(result.values, path, output.first)
    playback = modifiers.find_playback(obj)
    place = obj.modifiers.find(playback.name) + 1 if playback is not None else modifiers.split(obj)
    modifiers.insert(obj, place, NAME, "NODES").node_group = nodes.attributes_group(result.values, names)


def _rows(output, names, progress):
    row = np.zeros((output.vertices, 3), np.float32)
    for number, values in enumerate(output.carried([CHANNELS[name] for name in names])):
        row[:, : len(names)] = values.T
        yield row
        if progress:
            progress((number + 1) / output.count)


def plays_from(obj, folder):
    """Whether an object's attributes come from a file in a folder."""
    source = obj.pliant.result.values
    modifier = modifiers.find_playback(source) if source is not None else None
    return modifier is not None and modifiers.plays_from(modifier, folder)


def remove(obj):
    """Removes the attributes, if there are any."""
    result = obj.pliant.result
    modifier = obj.modifiers.get(NAME) or obj.modifiers.get(FORMER)
    if modifier is None or modifier.type != "NODES":
        return
    group, source = modifier.node_group, result.values
    obj.modifiers.remove(modifier)
    if group is not None and group.users == 0:
        bpy.data.node_groups.remove(group)
    result.values = None
    if source is not None and source.users == 0:
        nodes.remove_companion(source)
