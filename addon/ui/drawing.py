# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by panels: numbers and sentences as text."""

import textwrap

import bpy


def sentence(layout, text, icon="NONE", context=None, width=0):
    """A text wrapped to the width of the region."""
    if not width:
        region = context.region if context else None
        scale = context.preferences.system.ui_scale if context else 1.0
        width = max(24, int((region.width / scale - 50) / 6.2)) if region else 48
    column = layout.column(align=True)
    column.scale_y = 0.8
    for number, line in enumerate(textwrap.wrap(text, width) or [""]):
        column.label(text=line, icon=icon if number == 0 else "BLANK1" if icon != "NONE" else "NONE")


def rows(layout, texts):
    """Names and values side by side."""
    for name, text in texts:
        row = layout.split(factor=0.5)
        row.label(text=name)
        row.label(text=text)


def count(number):
    """1,234,567"""
    return f"{int(number):,}"


def size(number):
    """Bytes as text."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            return f"{number:.0f} {unit}" if number >= 10 or unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return ""


def duration(seconds):
    """A duration as text."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds:02d} s"


def length(metres, scene=None):
    """A length in the scene's units, as text."""
    units = scene.unit_settings if scene else None
    if units is None or units.system == "NONE":
        return f"{metres:.4g}"
    return bpy.utils.units.to_string(
        units.system, "LENGTH", metres * units.scale_length, precision=3, split_unit=False
    ).strip()
