# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake as plain Python: what it needs, its folder, its thread. No bpy in here."""
