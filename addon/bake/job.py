# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates a Shot into a Cache, in its own thread or in the caller's.

The thread calls the library and writes files, never Blender. Progress is in plain attributes that
any thread may read; cancel() takes effect within a substep. Every error becomes one sentence in
`error`, and finished frames are kept.

Pipeline of frames:

    the job's thread   simulate 5 | wait for row 4 | store 5, skin 5 | simulate 6 | wait for row 5
    worker thread      row 4, disk                                  row 5, disk

The store is at most one frame ahead of the point caches, as with a single thread; a checkpoint is
written only when all rows before it are.
"""

import collections
import contextlib
import threading
import time

from .. import solver
from .errors import BakeError, file_error
from .recorder import Recorder

WAITING, BUILDING, SIMULATING = "waiting", "building", "simulating"
DONE, CANCELLED, FAILED = "done", "cancelled", "failed"
ENDED = (DONE, CANCELLED, FAILED)
LATEST = 24  # frames that the pace is averaged over


class Job:
    """One bake of a shot.

    resume: continue from the last checkpoint in the cache; frames after it that are already stored
    are simulated again and compared by the store. from_frame: first discard what is baked after
    that frame (to bake the rest with other settings).
    """

    def __init__(self, shot, cache, resume=False, from_frame=None):
        self.shot, self.cache, self.resume, self.from_frame = shot, cache, resume, from_frame
        self.state = WAITING
        self.stage = ""  # current activity, for display
        self.frame = None  # the last finished frame
        self.fraction = 0.0  # of the whole, 0 to 1
        self.seconds_per_frame = None
        self.seconds_left = None
        self.contacts = None  # in the last finished frame, where bodies collide
        self.most_contacts = None  # (how many, frame): the most of all frames
        self.pieces = {}  # in the last finished frame, by name, for bodies that may break
        self.error = None  # a sentence
        self.status = None  # the library's Status if the library raised the error
        self.exception = None  # the exception that the sentence describes
        self.warnings = list(shot.warnings)
        self.needed_substeps = None  # per frame, if fewer are allowed than the stiffness needs
        self.lock = None  # lock.Lock of the cache folder: released when the job ends
        self.seconds = 0.0
        self._simulated = None  # the last simulated frame; its row may not be on the disk yet
        self._cancel = threading.Event()
        self._thread = None
        self._scene = None
        self._lock = threading.Lock()

    # ------------------------------------------------------------ from any thread

    def start(self):
        self._thread = threading.Thread(target=self.run, name="Pliant bake", daemon=True)
        self._thread.start()

    def cancel(self):
        self._cancel.set()
        with self._lock:  # the scene must not be closed meanwhile
            if self._scene is not None:
                self._scene.cancel()

    def wait(self, seconds=None):
        """True when the job has ended."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self.ended

    @property
    def ended(self):
        return self.state in ENDED

    # ------------------------------------------------------------ the job

    def run(self):
        """Runs the whole job in the calling thread; raises only KeyboardInterrupt and the like."""
        begun = time.perf_counter()
        state = FAILED
        try:
            with self.lock.kept() if self.lock is not None else contextlib.nullcontext():
                self._run()
            state = DONE
        except solver.Cancelled:
            state = CANCELLED
        except Exception as error:  # including our own bugs: the thread must report every exception
            self.exception = error
            self.error = self._explained(error)
        finally:
            self.seconds = time.perf_counter() - begun
            self.seconds_left = None
            self.state = state

    def _explained(self, error):
        """A sentence for an exception."""
        if isinstance(error, solver.PliantError):
            self.status = error.status
            return _sentence(error)
        if isinstance(error, (BakeError, solver.LibraryError)):
            return str(error)
        if isinstance(error, OSError):
            return str(file_error(error, "write", error.filename or self.cache.folder))
        if isinstance(error, MemoryError):
            return "There is not enough memory for this bake."
        return f"Internal error in Pliant: {type(error).__name__}: {error}."

    def _run(self):
        shot = self.shot
        self.state, self.stage = BUILDING, "Setting up"
        with solver.Scene(threads=shot.threads, gravity=shot.frames[0].gravity) as scene:
            with self._lock:
                self._scene = scene
            try:
                self._simulate(scene)
            finally:
                with self._lock:
                    self._scene = None

    def _simulate(self, scene):
        with Recorder(self, scene) as recorder:
            last = recorder.resume() if self.resume else recorder.begin()
            self.state, self.stage, self.frame = SIMULATING, "Simulating", last
            self._simulated = last
            times = collections.deque([time.perf_counter()], LATEST + 1)
            for frame in self.shot.frames[last + 1 - self.shot.start :]:
                self._check_cancel()
                recorder.advance(frame)
                self._simulated = frame.number
                self._progress(0.0)
                times.append(time.perf_counter())
                self.seconds_per_frame = (times[-1] - times[0]) / (len(times) - 1)
                self.seconds_left = self.seconds_per_frame * (self.shot.end - frame.number)
            recorder.take_warnings()  # also those that were raised while it ran
            self.fraction = 1.0

    def _check_lock(self):
        """Called before each write: another process may have taken over the folder."""
        if self.lock is not None:
            self.lock.check()

    def _check_cancel(self):
        self._check_lock()
        if self._cancel.is_set():
            raise solver.Cancelled(solver.Status.CANCELLED)

    def _progress(self, fraction, _stage=""):
        """Progress of the frame that is being simulated; true: cancel."""
        count = self.shot.end - self.shot.start + 1
        self.fraction = min(1.0, (self._simulated - self.shot.start + 1 + fraction) / count)
        return self._cancel.is_set()

    def _count_contacts(self, frame, count):
        self.contacts = count
        if self.most_contacts is None or count > self.most_contacts[0]:
            self.most_contacts = count, frame

    def _building(self, index, fraction, stage):
        self.stage = f"{self.shot.bodies[index].name}: {stage}" if stage else "Setting up"
        return self._cancel.is_set()


def _sentence(error):
    text = str(error).strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."
