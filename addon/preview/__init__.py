# SPDX-License-Identifier: GPL-3.0-or-later
"""Preview of a body's clusters in the viewport, before it is baked."""

from . import operators, session

modules = (session, operators)


def register():
    for module in modules:
        module.register()


def unregister():
    for module in reversed(modules):
        module.unregister()
