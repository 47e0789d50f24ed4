# SPDX-License-Identifier: GPL-3.0-or-later
"""Pliant: soft bodies that bend, flow and break."""

from . import blender, cli, preview, ui


def register():
    ui.register()
    blender.register()
    preview.register()
    cli.register()


def unregister():
    cli.unregister()
    preview.unregister()
    blender.unregister()
    ui.unregister()
