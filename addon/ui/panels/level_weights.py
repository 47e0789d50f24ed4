# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights of levels, computed as in the library: for the bars in the panel."""

import math


def raw_weight(settings, level, count):
    """Weights before normalisation. Level 0 is the finest."""
    a, b = settings.weight_a, settings.weight_b
    if count == 1 and settings.weighting != "MANUAL":
        return 1.0
    distance = count - 1 - level if settings.favour == "FINE" else level
    if settings.weighting == "LINEAR":
        return distance + (a if a >= 0 else 0.01)
    if settings.weighting == "GAUSSIAN":
        return math.exp(-0.5 * (count - 1 - distance) ** 2)
    if settings.weighting == "POLYNOMIAL":
        return (1 + (a if a >= 0 else 10) * distance / count) ** (b if b >= 0 else 2)
    if settings.weighting == "MANUAL":
        return settings.weights[level]
    return 1.0


def level_weights(settings, count=None):
    """Normalised weights of all levels, finest first; all 0 if the user has set all to 0."""
    count = count or settings.levels
    raw = [raw_weight(settings, level, count) for level in range(count)]
    total = sum(raw)
    return [weight / total if total > 0 else 0.0 for weight in raw]
