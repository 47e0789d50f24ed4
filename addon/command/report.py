# SPDX-License-Identifier: GPL-3.0-or-later
"""Output lines for people and farms, or JSON for programs; each is flushed at once.

Flamenco reads progress from "Time: mm:ss" and results from "Saved: '...'", anywhere in a line: only
lines about saved files contain the latter.
"""

import json
import os
import signal
import sys

from ..bake.errors import one_line
from .failures import BY_SIGNAL, Interrupted


class Log:
    def __init__(self, as_json=False, stream=None):
        self.as_json = as_json
        self.stream = stream or sys.stdout

    def say(self, event, text, **values):
        """One line, even if names of objects and files contain line breaks."""
        text = one_line(text if event == "saved" else str(text).replace("Saved: '", "Saved : '"))
        if self.as_json:
            text = json.dumps({"event": event, **values, "message": text}, default=_plain)
        print(text, file=self.stream, flush=True)

    def warn(self, sentence):
        self.say("warning", sentence if self.as_json else f"Warning: {sentence}")

    def saved(self, path):
        path = str(path)
        self.say("saved", f"Saved: '{path}'", path=path)

    def error(self, sentence, code):
        self.say("error", sentence if self.as_json else f"Error: {sentence}", code=code)


def _plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def clock(seconds):
    """mm:ss, or h:mm:ss, in Blender's format."""
    minutes, seconds = divmod(int(round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"


class Signals:
    """SIGINT and SIGTERM end a command cleanly: finished frames are kept. A second signal ends it
    at once. The handlers only set a flag; check() raises where stopping is safe."""

    def __init__(self):
        self.received = None
        self._before = {}

    def __enter__(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                self._before[number] = signal.signal(number, self._note)
            except ValueError:  # not the main thread: the caller handles signals
                pass
        return self

    def __exit__(self, *_):
        for number, handler in self._before.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def _note(self, number, _frame):
        if self.received is not None:
            os._exit(BY_SIGNAL + number)
        self.received = number

    def check(self, *_):
        """For loops, and as a progress function."""
        if self.received is not None:
            raise Interrupted()

    @property
    def code(self):
        return BY_SIGNAL + self.received
