# SPDX-License-Identifier: GPL-3.0-or-later
"""From Blender's scene to a Shot."""
