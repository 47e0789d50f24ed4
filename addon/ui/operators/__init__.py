# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators."""

from . import bake, floor, presets, results, roles, welds

modules = (presets, roles, bake, results, floor, welds)
