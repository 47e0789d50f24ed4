# SPDX-License-Identifier: GPL-3.0-or-later
"""Pliant: soft bodies that bend, flow and break."""
from . import cli, preview, ui


def register():
    ui.register()
    preview.register()
    cli.register()


def unregister():
    cli.unregister()
    preview.unregister()
    ui.unregister()
