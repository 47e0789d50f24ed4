# SPDX-License-Identifier: GPL-3.0-or-later
"""Cluster colours on meshes and in viewports, and restoring what was there before."""

from dataclasses import dataclass

import bpy
import numpy as np

ATTRIBUTE = "Pliant Clusters"


@dataclass
class Before:
    """State of a mesh's colour attributes."""

    active: str
    rendered: str


_meshes = {}  # mesh's name -> Before
_viewports = {}  # (screen's name, area's number) -> the shading's colour type


def paint(mesh, colours):
    """Writes colours, (n, 4) linear, to a mesh. Returns a sentence if that is not possible,
    otherwise None."""
    if mesh.library is not None:
        return f'The mesh "{mesh.name}" is linked from another file: it cannot be coloured'
    if mesh.is_editmode:
        return f'The mesh "{mesh.name}" is coloured when you leave Edit Mode'
    if len(colours) != len(mesh.vertices) and "inside" in mesh.attributes:
        return f'The mesh "{mesh.name}" is cut along its cracks: colour it by pieces'
    if len(colours) != len(mesh.vertices):
        return f'The mesh "{mesh.name}" has changed: it is coloured when the preview is done'
    attributes = mesh.color_attributes
    if mesh.name not in _meshes:
        found = attributes.active_color
        _meshes[mesh.name] = Before(found.name if found and found.name != ATTRIBUTE else "", _rendered(mesh))
    attribute = mesh.attributes.get(ATTRIBUTE)
    if attribute is not None and not _is_ours(attribute):
        mesh.attributes.remove(attribute)
        attribute = None
    if attribute is None:
        attribute = attributes.new(ATTRIBUTE, "FLOAT_COLOR", "POINT")
    attribute.data.foreach_set("color", np.ascontiguousarray(colours, np.float32).ravel())
    attributes.active_color_name = ATTRIBUTE
    mesh.update()
    return None


def is_painted(mesh):
    return mesh.attributes.get(ATTRIBUTE) is not None


def _is_ours(attribute):
    return attribute.data_type == "FLOAT_COLOR" and attribute.domain == "POINT"


def _rendered(mesh):
    index = mesh.color_attributes.render_color_index
    names = [attribute.name for attribute in mesh.color_attributes]
    return names[index] if 0 <= index < len(names) and names[index] != ATTRIBUTE else ""


def clean(mesh):
    """Removes the colours from a mesh and restores the active attribute."""
    attribute = mesh.attributes.get(ATTRIBUTE)
    if attribute is not None and mesh.library is None and not mesh.is_editmode:
        mesh.attributes.remove(attribute)
    before = _meshes.get(mesh.name)
    if before is None:
        return
    names = [found.name for found in mesh.color_attributes]
    if before.active in names:
        mesh.color_attributes.active_color_name = before.active
    if before.rendered in names:
        mesh.color_attributes.render_color_index = names.index(before.rendered)
    mesh.update()


def clean_all(forget=True):
    """Removes the colours from all meshes. forget=False: they will be written again (around a
    save)."""
    for name in list(_meshes):
        mesh = bpy.data.meshes.get(name)
        if mesh is not None:
            clean(mesh)
    if forget:
        _meshes.clear()


def painted():
    """Names of the meshes with preview colours."""
    return list(_meshes)


def sweep(names):
    """Removes colours that an undo restored although the preview is off."""
    for name in names:
        mesh = bpy.data.meshes.get(name)
        if mesh is not None and name not in _meshes and mesh.attributes.get(ATTRIBUTE):
            clean(mesh)


def show_in_viewports():
    """Makes solid viewports show colour attributes, and stores what they showed."""
    for key, shading in _solid_viewports():
        if key not in _viewports and shading.color_type != "VERTEX":
            _viewports[key] = shading.color_type
            shading.color_type = "VERTEX"


def restore_viewports():
    for key, shading in _solid_viewports():
        if key in _viewports and shading.color_type == "VERTEX":
            shading.color_type = _viewports[key]
    _viewports.clear()


def _solid_viewports():
    for screen in bpy.data.screens:
        for number, area in enumerate(screen.areas):
            if area.type == "VIEW_3D":
                yield (screen.name, number), area.spaces.active.shading


def forget():
    """Called before another file is loaded: the painted meshes go with this one."""
    _meshes.clear()
    _viewports.clear()
