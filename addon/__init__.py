# SPDX-License-Identifier: GPL-3.0-or-later
"""Pliant: soft bodies that bend, flow and break."""
from . import preview, ui


def register():
    ui.register()
    preview.register()


def unregister():
    preview.unregister()
    ui.unregister()
