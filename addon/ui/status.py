# SPDX-License-Identifier: GPL-3.0-or-later
"""State of the bake and of a running bake, for panels and the timeline. Read only."""

import os
from dataclasses import dataclass, field

from ..bake import process
from ..blender import folders, handlers, runs
from . import drawing


@dataclass
class Running:
    """A running bake."""

    fraction: float
    text: str  # in the progress bar
    lines: list = field(default_factory=list)  # below the progress bar
    frames: tuple = (1, 1)  # first and last of the bake


@dataclass
class Cached:
    first: int
    last: int
    bytes: int


def running(scene):
    """The running bake of a scene, or None."""
    run = runs.running(scene)
    if run is None:
        return None
    text = run.stage or "Baking"
    if run.frame is not None and run.cutting is None:
        text = f"Frame {run.frame} of {run.end}"
    lines = []
    if run.seconds_per_frame:
        line = f"{drawing.duration(run.seconds_per_frame)} a frame"
        if run.seconds_left is not None:
            line += f", {drawing.duration(run.seconds_left)} left"
        lines.append(line)
    if held := process.memory():
        lines.append(f"{drawing.size(held)} of memory")
    if run.contacts is not None:
        lines.append(f"{drawing.count(run.contacts)} contacts")
    if run.pieces is not None:
        lines.append(f"{drawing.count(run.pieces)} piece{'s' if run.pieces != 1 else ''}")
    return Running(min(1.0, max(0.0, run.fraction)), text, lines, (run.start, run.end))


def message(scene):
    """(icon, sentence) of the last bake's most important message, or None."""
    if handlers.problems:
        return "ERROR", handlers.problems[0]
    kind, sentence = runs.last_message.get(scene.name, ("INFO", ""))
    return None if kind == "INFO" else ("ERROR", sentence)


def any_running():
    return runs.any_running()


def folder(scene):
    """The scene's cache folder as a text."""
    return str(folders.folder_of(scene))


_sizes = {}  # folder -> (baked range, bytes): adding up many files takes too long for every redraw


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
                pass  # deleted meanwhile
    return total
