# SPDX-License-Identifier: GPL-3.0-or-later
"""Implementation of the command line (cli.py reads its arguments). Without operators and panels:
the scene is set up, and blender/ and bake/ are called directly."""
