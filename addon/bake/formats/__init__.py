# SPDX-License-Identifier: GPL-3.0-or-later
"""Point cache file formats: PC2 and MDD."""
