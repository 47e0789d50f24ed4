# SPDX-License-Identifier: GPL-3.0-or-later
"""User interface: properties, operators, panels."""

from . import operators, outdated, panels, timeline
from .properties import settings

# panels are drawn in the order in which they are registered
modules = (settings, *operators.modules, *panels.modules, timeline, outdated)


def register():
    for module in modules:
        module.register()


def unregister():
    for module in reversed(modules):
        module.unregister()
