# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything the artist touches: properties, operators, panels, presets."""
from ..blender import handlers, presets
from . import drawing, outdated, timeline
from .operators import bake, results, roles
from .panels import bake as panels_bake
from .panels import body, fracture, hints, sidebar, welds
from .properties import settings

modules = (settings, drawing, presets, roles, bake, results, hints,
           body, fracture, panels_bake, welds, sidebar, timeline, handlers, outdated)


def register():
    for module in modules:
        module.register()


def unregister():
    for module in reversed(modules):
        module.unregister()
