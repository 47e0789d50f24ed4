# SPDX-License-Identifier: GPL-3.0-or-later
"""What buttons do."""

from . import bake, floor, presets, results, roles, welds

modules = (presets, roles, bake, results, floor, welds)
