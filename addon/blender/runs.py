# SPDX-License-Identifier: GPL-3.0-or-later
"""Running bakes: their state for panels, how they continue and end.

A run is identified by its scene's name and stores only names: undo, loading and deleting invalidate
references. Nothing of it is saved in the file.
"""

import atexit
import time

import bpy

from ..bake import cache as caches
from ..bake import job as jobs
from ..bake import files, lock, plan
from ..bake.cutting import CUT_SECONDS, Cutting
from ..bake.errors import BakeError
from ..solver import LibraryError
from . import folders, modifiers, settings
from .capture import capture
from .results import results

_runs = {}  # scene name -> Run
last_message = {}  # scene name -> (kind, sentence) of the run that ended last
_needed = {}  # scene name -> substeps that the stiffness of its last bake needs
CUTTING = "cutting"
WORTH_TELLING = 1.0  # seconds that reading or cutting must take to be mentioned
WAIT = 30.0  # seconds that a cancelled job is given to end


class Run:
    """One bake: capturing, then simulating, then ended."""

    def __init__(self, scene, kind=plan.NEW, from_frame=None, quick=None):
        self.scene_name = scene.name
        self.kind, self.from_frame = kind, from_frame
        self.folder = folders.folder_of(scene, quick is not None)
        self.quick = quick is not None
        self._plays = False  # the playback modifiers have been added
        self._cancelled = False
        self._since = time.perf_counter()  # start of the current activity
        self.took = {}  # "reading", "cutting": seconds
        self.error = None
        self.job = None
        self.cutting = None  # a Cutting, when all frames are there
        self._cut = False  # cutting is finished, or not needed
        self.timer = None  # of the modal operator
        folders.check_allowed(scene)
        lock.refuse(self.folder)  # now, not only after the whole scene was read
        results.before_capture(scene)
        self.capturing = capture.Capture(scene, quick=quick)
        results.before_bake(scene)
        self.start, self.end = self.capturing.start, self.capturing.end

    # ------------------------------------------------------------ state for panels

    @property
    def state(self):
        if self.error:
            return jobs.FAILED
        if self.job is not None:
            is_left = self.job.state == jobs.DONE and not self._cut
            return CUTTING if is_left else self.job.state
        return jobs.CANCELLED if self._cancelled else "capturing"

    @property
    def ended(self):
        return self.state in jobs.ENDED

    @property
    def fraction(self):
        """Progress of the current activity: the bar fills once for capturing and once for
        simulating."""
        if self.cutting is not None:
            return self.cutting.fraction
        if self.job is not None:
            return self.job.fraction
        return self.capturing.done / self.capturing.count

    @property
    def frame(self):
        """The last finished frame, or None."""
        return self.job.frame if self.job is not None else None

    @property
    def stage(self):
        if self.cutting is not None:
            return self.cutting.stage
        return self.job.stage if self.job is not None else "Reading the scene"

    @property
    def seconds_per_frame(self):
        return self.job.seconds_per_frame if self.job is not None else None

    @property
    def seconds_left(self):
        """Estimated seconds of simulating, and of cutting if something has broken so far."""
        if self.job is None or self.job.seconds_left is None:
            return None
        broken = [body for body in self.job.shot.bodies if self.job.pieces.get(body.name, 0) > 1]
        faces = 0 if self.quick else sum(len(body.triangles) for body in broken)
        return self.job.seconds_left + CUT_SECONDS * faces

    @property
    def contacts(self):
        return self.job.contacts if self.job is not None else None

    @property
    def pieces(self):
        """Number of pieces of all bodies that may break, or None."""
        return sum(self.job.pieces.values()) if self.job is not None and self.job.pieces else None

    @property
    def warnings(self):
        if self.job is not None:
            return self.job.warnings
        return self.capturing.shot.warnings if self.capturing.shot else []

    def text(self):
        """A line for the status bar."""
        if self.job is None:
            return f"Pliant: reading frame {self.start + self.capturing.done} of {self.end}"
        if self.cutting is not None:
            return f"Pliant: {self.stage}, {100 * self.fraction:.0f} % (Esc: leave it whole)"
        if self.frame is None:
            return f"Pliant: {self.stage}"
        text = f"Pliant: frame {self.frame} of {self.end}"
        if self.seconds_per_frame:
            text += f", {self.seconds_per_frame:.2f} s a frame"
        if self.seconds_left is not None:
            minutes, seconds = divmod(round(self.seconds_left), 60)
            text += f", {minutes}:{seconds:02d} left"
        return text + " (Esc: cancel)"

    # ------------------------------------------------------------ steps

    def step(self, seconds):
        """Works for about this long in Blender's main thread; never raises."""
        try:
            if self.ended:
                return
            if self.job is None:
                self._capture(seconds)
            elif self.state == CUTTING:
                self._watch_cutting()
            else:
                self._watch()
        except (capture.CaptureError, BakeError, LibraryError) as error:
            self._fail(str(error))
        except ReferenceError:
            self._fail("The scene was changed while it was read. Bake again.")

    def _capture(self, seconds):
        until = time.perf_counter() + seconds
        for _ in self.capturing:
            if time.perf_counter() >= until:
                return
        self.job = self._make_job()
        self._lap("reading")
        self.job.start()

    def _lap(self, what):
        self.took[what] = time.perf_counter() - self._since

    def _make_job(self):
        return plan.make_job(self.folder, self.capturing.shot, self.kind, self.from_frame)

    def run(self):
        """Runs to the end, without a thread."""
        try:
            for _ in self.capturing:
                pass
            self.job = self._make_job()
            self._lap("reading")
        except (capture.CaptureError, BakeError, LibraryError) as error:
            self._fail(str(error))
            return
        self.job.run()
        self._cut = True  # done with the results, since no window waits

    def _watch_cutting(self):
        """Starts cutting broken meshes in the background, before the results are made."""
        if self.cutting is None:
            scene = bpy.data.scenes.get(self.scene_name)
            bodies = [scene.objects.get(body.name) for body in self.job.shot.bodies] if scene else []
            todo = [] if self.quick else results.to_cut(scene, [obj for obj in bodies if obj is not None])
            self._cut = self._cancelled or not todo
            if todo:
                self._since = time.perf_counter()
                self.cutting = Cutting(todo)
            if not self._cut:
                self.cutting.start()
        elif self.cutting.ended:
            self._lap("cutting")
            self._cut = True

    def wait(self, seconds):
        if self.job is not None:
            self.job.wait(seconds)
        if self.cutting is not None:
            self.cutting.wait(seconds)

    def _watch(self):
        scene = bpy.data.scenes.get(self.scene_name)
        if scene is None:
            self.cancel(f"The scene '{self.scene_name}' was removed or renamed, so the bake was stopped.")
            return
        for body in self.job.shot.bodies:
            if scene.objects.get(body.name) is None:
                self.cancel(
                    f"'{body.name}' was removed or renamed, so the bake was stopped. The frames that are done are kept."
                )
                return
        if not self._plays and self.job.frame is not None:
            self.play(scene)

    def play(self, scene):
        """Lets the bodies' objects play the baked frames."""
        self._plays = True
        cache = self.job.cache
        for body in cache.bodies:
            obj = scene.objects.get(body.name)
            if obj is not None and obj.type == "MESH" and obj.library is None:
                results.show_bake(obj, cache, body)

    def cancel(self, sentence=None):
        """Cancels the run; finished frames are kept."""
        self._cancelled = True
        if self.cutting is not None:
            self.cutting.cancel()
        if self.job is not None:
            self.job.cancel()
        else:
            self.capturing.release()
        if sentence:
            self._stopped = sentence

    _stopped = None

    def watch(self, context, seconds):
        """Starts timer events for the modal operator."""
        self.timer = context.window_manager.event_timer_add(seconds, window=context.window)

    def leave(self):
        """Stops timer events and clears the status bar; does nothing the second time."""
        timer, self.timer = self.timer, None
        manager = bpy.context.window_manager
        if timer is None or manager is None:
            return
        manager.event_timer_remove(timer)
        for window in manager.windows:
            window.workspace.status_text_set(None)

    def _fail(self, sentence):
        self.capturing.release()
        if self.job is not None and not self.job.ended:
            self.job.cancel()
        self.error = sentence

    # ------------------------------------------------------------ ending

    def message(self):
        """(kind of report, sentence) for a run that has ended."""
        error = self.error or (self.job.error if self.job is not None else None)
        if error:
            return "ERROR", error
        if self._stopped:
            return "WARNING", self._stopped
        if self.state == jobs.CANCELLED:
            if self.frame is None:
                return "INFO", "The bake was cancelled before its first frame."
            return "INFO", f"The bake was cancelled; frames up to {self.frame} are kept."
        what = "quick bake" if self.quick else "bake"
        took = self.job.seconds
        text = f"Baked frames {self.start} to {self.end} in {took:.1f} s ({what})."
        if self.job.most_contacts is not None:
            text = f"{text[:-1]}, at most %s contacts (frame %d)." % (
                f"{self.job.most_contacts[0]:,}",
                self.job.most_contacts[1],
            )
        elif self.job.shot.pass_through:
            text = f"{text[:-1]}, bodies pass through each other (Bodies Collide is off)."
        if self.pieces is not None:
            text = f"{text[:-1]}, {self.pieces:,} piece{'s' if self.pieces != 1 else ''}."
        for what, seconds in self.took.items():
            if seconds >= WORTH_TELLING:
                text = f"{text[:-1]}, {what} took {seconds:.1f} s."
        return ("WARNING", " ".join([text, *self.warnings])) if self.warnings else ("INFO", text)

    def finish(self):
        """Last steps after the end: the objects play the finished frames."""
        self.capturing.release()
        scene = bpy.data.scenes.get(self.scene_name)
        if scene is None or self.job is None or self.job.frame is None:
            return
        if self._cancelled and self.state == CUTTING and self.cutting is None:
            self._watch_cutting()  # what was not started stays uncut
        self._follow(scene)
        self.play(scene)
        for body in self.job.cache.bodies:
            obj = scene.objects.get(body.name)
            if obj is not None:
                modifiers.refresh(obj)
        if not self.quick:
            uncut = self.cutting.left if self.cutting is not None else ()
            self.warnings.extend(f"'{name}' is not cut along its cracks: Make Result does that." for name in uncut)
            self._since = time.perf_counter()
            self.warnings.extend(results.after_bake(scene, self.job.state == jobs.DONE, uncut))
            if self.pieces is not None and "cutting" not in self.took:  # cut with the results
                self._lap("cutting")

    def _follow(self, scene):
        """The file was saved elsewhere meanwhile, so the cache is copied."""
        folder = folders.folder_of(scene, self.quick)
        cache = self.job.cache
        if folder == cache.folder or files.same(folder, cache.folder):
            return
        try:
            folders.check_allowed(scene)
            caches.copy(cache.folder, folder)
            self.job.cache = caches.Cache.open(folder)
        except (OSError, BakeError) as error:
            self.warnings.append(f"The cache could not be copied to {folder}: {error}")


# ---------------------------------------------------------------- by scene


def running(scene):
    """The Run of a scene, or None."""
    run = _runs.get(scene.name)
    return run if run is not None and not run.ended else None


def add(run):
    _runs[run.scene_name] = run


def end(run):
    """Removes a run that has ended from the list; returns its message."""
    run.finish()
    if _runs.get(run.scene_name) is run:
        del _runs[run.scene_name]
    if run.job is not None:
        _needed[run.scene_name] = run.job.needed_substeps
    last_message[run.scene_name] = run.message()
    return last_message[run.scene_name]


def needed_substeps(scene):
    """Substeps that the last bake would have needed, if the scene allows fewer; or None."""
    needed = _needed.get(scene.name)
    return needed if needed and needed > settings.most_substeps(scene.pliant) else None


def any_running():
    return any(not run.ended for run in _runs.values())


def stop_all(touch_data=True):
    """Cancels all runs and waits: before loading a file, unregistering, and exit."""
    for run in list(_runs.values()):
        if touch_data:
            run.leave()
        if run.job is not None:
            run._cancelled = True
            run.job.cancel()
            if run.cutting is not None:
                run.cutting.cancel()
        elif touch_data:
            run.cancel()
    for run in list(_runs.values()):
        run.wait(WAIT)
    _runs.clear()


def release_captures():
    """Temporarily restores frame and modifiers of scenes that are being read."""
    for run in _runs.values():
        if run.job is None:
            run.capturing.release()


def cancel_captures(sentence):
    for run in _runs.values():
        if run.job is None and not run.ended:
            run.cancel(sentence)


def _at_exit():
    stop_all(touch_data=False)


def register():
    atexit.register(_at_exit)


def unregister():
    atexit.unregister(_at_exit)
    stop_all()
    last_message.clear()
    _needed.clear()
