# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of the Physics tab and of the sidebar."""

from . import bake, body, fracture, hints, sidebar, welds

modules = (hints, body, fracture, bake, welds, sidebar)
