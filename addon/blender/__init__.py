# SPDX-License-Identifier: GPL-3.0-or-later
"""Between Blender's data and plain arrays, both ways."""
