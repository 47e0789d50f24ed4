# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn in the Physics tab and the sidebar."""

from . import bake, body, fracture, hints, sidebar, welds

modules = (hints, body, fracture, bake, welds, sidebar)
