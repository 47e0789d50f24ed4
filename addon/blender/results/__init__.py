# SPDX-License-Identifier: GPL-3.0-or-later
"""From a bake to what Blender's objects show of it."""
