# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of objects and scenes."""
