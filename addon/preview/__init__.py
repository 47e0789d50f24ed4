# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body is clustered, seen in the viewport before it is baked."""
