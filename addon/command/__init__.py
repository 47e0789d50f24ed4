# SPDX-License-Identifier: GPL-3.0-or-later
"""What the command line does (cli.py reads its arguments). No operators and no interface: the scene
is set up, and blender and bake are called directly."""
