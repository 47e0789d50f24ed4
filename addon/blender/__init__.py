# SPDX-License-Identifier: GPL-3.0-or-later
"""Between Blender's data and plain arrays, both ways.

    capture/   from the evaluated scene to a Shot
    results/   from a bake to what objects show
    settings   from properties to the keywords of the solver; presets and fitting fill them in
    runs       bakes that are going on, by scene
    handlers   saving, loading and undo

No panels and no operators: those are in ui/, and the command line does without them.
"""

from . import handlers, redraw, runs

modules = (redraw, runs, handlers)


def register():
    for module in modules:
        module.register()


def unregister():
    for module in reversed(modules):
        module.unregister()
