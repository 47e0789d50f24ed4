# SPDX-License-Identifier: GPL-3.0-or-later
"""Point caches as files: PC2 and MDD."""
