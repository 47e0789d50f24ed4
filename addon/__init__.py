# SPDX-License-Identifier: GPL-3.0-or-later
"""Pliant: soft bodies that bend, flow and break."""
from . import ui


def register():
    ui.register()


def unregister():
    ui.unregister()
