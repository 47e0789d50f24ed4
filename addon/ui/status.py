# SPDX-License-Identifier: GPL-3.0-or-later
"""What is baked and what is being baked, for panels and the timeline. Only looks, never changes."""
import os
from dataclasses import dataclass, field

from ..bridge import folders
from . import drawing


@dataclass
class Running:
    """A bake that is going on."""
    fraction: float
    text: str  # in the bar
    lines: list = field(default_factory=list)  # below it
    frame: int | None = None  # the last that is finished


@dataclass
class Cached:
    first: int
    last: int
    bytes: int


def running(scene):
    """The bake that is going on in a scene, or None."""
    try:
        from . import operators_bake
    except ImportError:
        return None
    found = operators_bake.running(scene)
    return _read(found) if found else None


def _read(found):
    """From what the bake's operators know to what is drawn."""
    frame, end = getattr(found, "frame", None), getattr(found, "end", None)
    text = getattr(found, "stage", "") or "Baking"
    if frame is not None:
        text = f"Frame {frame}" + (f" of {end}" if end is not None else "")
    each, left = getattr(found, "seconds_per_frame", None), getattr(found, "seconds_left", None)
    lines = []
    if each:
        lines.append(f"{drawing.duration(each)} a frame" +
                     (f", {drawing.duration(left)} left" if left is not None else ""))
    return Running(min(1.0, max(0.0, getattr(found, "fraction", 0.0))), text, lines, frame)


def folder(scene):
    """The scene's cache folder as a text."""
    return str(folders.folder_of(scene))


_sizes = {}  # folder -> (baked range, bytes): adding up many files is not for every redraw


def cached(scene):
    """What is baked and can be played, or None."""
    baked = folders.baked_range(scene)
    if baked is None:
        return None
    path = folder(scene)
    if _sizes.get(path, (None, 0))[0] != baked:
        if len(_sizes) > 64:
            _sizes.clear()
        _sizes[path] = (baked, _bytes(path))
    return Cached(*baked, _sizes[path][1])


def _bytes(path):
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                pass  # gone in the meantime
    return total
