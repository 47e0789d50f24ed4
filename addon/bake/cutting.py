# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts meshes along the cracks of a bake and writes what they play, in the background.

The cutting itself runs in another process (fracture/background.py); reading frames, skinning and
writing run in a thread. The result is kept in the cache and reused when a result is made. Does not
import bpy.
"""

import threading

from .errors import BakeError
from .fractured_output import FracturedOutput

CUT_SECONDS = 1.2e-4  # seconds per face of a mesh that is cut along its cracks, on one core of 2020
CUT = 0.6  # share of the whole; the rest is writing frames


class Cancelled(Exception):
    """Cutting was cancelled, not the bake."""


class Cutting:
    """Makes FracturedOutputs one after another: (name to display, arguments of FracturedOutput).
    Progress is in plain attributes."""

    def __init__(self, todo):
        self._todo = list(todo)
        self.done = []  # names of those that are finished
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
        """Names of those that are not finished."""
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
            except BakeError as error:  # making the result reports it again
                if self._cancel.is_set():
                    return
                self.warnings.append(str(error))
            except Exception as error:  # including our own bugs: the thread must report every exception
                self.warnings.append(f"Internal error in Pliant: {type(error).__name__}: {error}.")
            self.done.append(name)
