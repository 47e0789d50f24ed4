# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake in plain Python: its input, its folder, its thread. Does not import bpy."""
