# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows the results of a bake on Blender's objects."""
