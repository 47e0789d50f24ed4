# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts meshes along the cracks of a bake and writes what they play, beside the window.

The cutting itself is in a process of its own (fracture/background.py); reading the frames, skinning and
writing is in a thread. What is made is kept in the cache: making the result afterwards finds it there.
No bpy in here.
"""

import threading

from .errors import BakeError
from .fractured_output import FracturedOutput

CUT_SECONDS = 1.2e-4  # a face of a mesh that is cut along its cracks, on one core of 2020
CUT = 0.6  # of the whole: the rest is writing frames


class Cancelled(Exception):
    """Cutting was, not the bake."""


class Cutting:
    """Some FracturedOutputs to be made, one after the other: (name for people, arguments of
    FracturedOutput). What it has reached are plain attributes."""

    def __init__(self, todo):
        self._todo = list(todo)
        self.done = []  # names of those that are cut
        self.warnings = []  # sentences
        self.name = self._todo[0][0] if self._todo else ""
        self.fraction = 0.0
        self._cancel = threading.Event()
        self._thread = None

    def start(self):
        self._thread = threading.Thread(target=self._run, name="Pliant cutting", daemon=True)
        self._thread.start()
        return self

    def cancel(self):
        self._cancel.set()

    @property
    def cancelled(self):
        return self._cancel.is_set()

    @property
    def ended(self):
        return self._thread is not None and not self._thread.is_alive()

    def wait(self, seconds=None):
        if self._thread is not None:
            self._thread.join(seconds)

    @property
    def left(self):
        """Names of those that are not cut."""
        return [name for name, _ in self._todo if name not in self.done]

    @property
    def stage(self):
        return f"Cutting '{self.name}' along its cracks"

    def _run(self):
        for number, (name, arguments) in enumerate(self._todo):
            self.name = name

            def progress(part, number=number):
                self.fraction = (number + part) / len(self._todo)
                if self._cancel.is_set():
                    raise Cancelled

            try:
                progress(0.0)
                made = FracturedOutput(
                    **arguments,
                    cancelled=self._cancel.is_set,
                    progress=lambda part, report=progress: report(CUT * part),
                )
                made.point_cache(lambda part, report=progress: report(CUT + (1 - CUT) * part))
            except Cancelled:
                return
            except BakeError as error:  # the result says it again, and what becomes of it
                if self._cancel.is_set():
                    return
                self.warnings.append(str(error))
            except Exception as error:  # also a fault of ours: the thread must not die without a word
                self.warnings.append(f"A fault in Pliant: {type(error).__name__}: {error}.")
            self.done.append(name)
