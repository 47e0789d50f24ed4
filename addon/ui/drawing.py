# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels have in common: how numbers and sentences are written."""
import textwrap

import bpy


def sentence(layout, text, icon="NONE", context=None, width=0):
    """A text over as many lines as the region needs."""
    if not width:
        region = context.region if context else None
        scale = context.preferences.system.ui_scale if context else 1.0
        width = max(24, int((region.width / scale - 50) / 6.2)) if region else 48
    column = layout.column(align=True)
    column.scale_y = .8
    for number, line in enumerate(textwrap.wrap(text, width) or [""]):
        column.label(text=line, icon=icon if number == 0 else
                     "BLANK1" if icon != "NONE" else "NONE")


def rows(layout, texts):
    """Names and values side by side."""
    for name, text in texts:
        row = layout.split(factor=.5)
        row.label(text=name)
        row.label(text=text)


def count(number):
    """1,234,567"""
    return f"{int(number):,}"


def size(number):
    """Bytes for people."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            return f"{number:.0f} {unit}" if number >= 10 or unit == "bytes" else \
                f"{number:.1f} {unit}"
        number /= 1000
    return ""


def duration(seconds):
    """A time for people."""
    if seconds < .0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds:02d} s"


def length(metres, scene=None):
    """A length in the scene's units."""
    units = scene.unit_settings if scene else None
    if units is None or units.system == "NONE":
        return f"{metres:.4g}"
    return bpy.utils.units.to_string(units.system, "LENGTH", metres * units.scale_length,
                                     precision=3, split_unit=False).strip()


def redraw_panels():
    """All panels, not the 3D view itself."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions:
                if area.type == "PROPERTIES" or area.type == "VIEW_3D" and region.type == "UI":
                    region.tag_redraw()


_redraws = []  # seconds until each that is to come


def _settle():
    redraw_panels()
    return _redraws.pop(0) if _redraws else None


def settle():
    """Panels that grew or shrank by themselves find their places in the redraw after the next one;
    a user's mouse would bring that about. When Blender gets to the next one is not known."""
    _redraws[:] = [.25, .5, 1.0]
    if not bpy.app.background and not bpy.app.timers.is_registered(_settle):
        bpy.app.timers.register(_settle, first_interval=.25)


def register():
    pass


def unregister():
    if bpy.app.timers.is_registered(_settle):
        bpy.app.timers.unregister(_settle)
