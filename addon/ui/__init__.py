# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything the artist touches: properties, operators, panels, presets."""
from . import drawing, handlers, hints, operators_bake, operators_results, operators_roles, outdated, \
    panels, panels_bake, panels_fracture, panels_sidebar, presets, properties, timeline, welds

modules = (properties, drawing, presets, operators_roles, operators_bake, operators_results, hints,
           panels, panels_fracture, panels_bake, welds, panels_sidebar, timeline, handlers, outdated)


def register():
    for module in modules:
        module.register()


def unregister():
    for module in reversed(modules):
        module.unregister()
