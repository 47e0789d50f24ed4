# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion between Blender's data and plain arrays, both ways.

    capture/   from the evaluated scene to a Shot
    results/   from a bake to what objects show
    settings   from properties to the keywords of the solver; presets and fitting set the properties
    runs       running bakes, by scene
    handlers   saving, loading and undo

No panels and no operators: those are in ui/, which the command line does not need.
"""

from . import handlers, redraw, runs

modules = (redraw, runs, handlers)


def register():
    for module in modules:
        module.register()


def unregister():
    for module in reversed(modules):
        module.unregister()
