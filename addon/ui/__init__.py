# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything the artist touches: properties, operators, panels, presets."""
from . import properties

modules = (properties,)


def register():
    for module in modules:
        module.register()


def unregister():
    for module in reversed(modules):
        module.unregister()
