# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates a Shot into a Cache, in a thread of its own or in the caller's.

The thread calls the library and writes files, never Blender. What it has reached are plain
attributes that anybody may read at any time; cancel() is answered within a substep. Whatever goes
wrong ends up as one sentence in `error`, and frames that are finished stay.

A frame's way, and who waits for whom:

    the job's thread   simulate 5 | wait for row 4 | store 5, skin 5 | simulate 6 | wait for row 5
    beside it           row 4, disk                                  row 5, disk

The store is at most one frame ahead of the point caches, which is no more than if one thread did
it all; a checkpoint is written only when all rows before it are.
"""
import collections
import contextlib
import math
import threading
import time

import numpy as np

from .. import solver
from . import fracture_cells, pins, toughness, transforms, volume
from .background import BackgroundWorker
from .cache import CacheError
from .errors import BakeError, file_error
from .formats import pc2

WAITING, BUILDING, SIMULATING = "waiting", "building", "simulating"
DONE, CANCELLED, FAILED = "done", "cancelled", "failed"
ENDED = (DONE, CANCELLED, FAILED)
LATEST = 24  # frames that the pace is taken from
MOST_SUBSTEPS = 1000  # of a frame that a scene may allow
MARGIN = .4  # of the spacing: where the outermost particles of a filled body are
SKIN_MARGIN = .2  # of the spacing: how far skins and sheets keep off


class Job:
    """One bake of a shot.

    resume: goes on after the frames that the cache has, from its last checkpoint; frames after that
    are simulated again, and the store compares them. from_frame: forgets what is baked after that
    frame first (to bake the rest again with other settings).
    """

    def __init__(self, shot, cache, resume=False, from_frame=None):
        self.shot, self.cache, self.resume, self.from_frame = shot, cache, resume, from_frame
        self.state = WAITING
        self.stage = ""  # what is being done, for a person
        self.frame = None  # the last finished frame
        self.fraction = 0.0  # of the whole, 0 to 1
        self.seconds_per_frame = None
        self.seconds_left = None
        self.contacts = None  # in the last finished frame, where bodies collide
        self.most_contacts = None  # (how many, frame): the most of all frames
        self.pieces = {}  # in the last finished frame, by name, of bodies that may break
        self.error = None  # a sentence
        self.status = None  # the library's Status where the error is its own
        self.exception = None  # what the sentence was made from
        self.warnings = list(shot.warnings)
        self.needed_substeps = None  # a frame, where fewer are allowed than the stiffness needs
        self.lock = None  # a lock.Lock on the cache's folder: released when the job has ended
        self.seconds = 0.0
        self._simulated = None  # the last frame that is; its row may still be on its way to disk
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
        with self._lock:  # the scene is not closed in the middle of this
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
        """All of it, in the calling thread; never raises but KeyboardInterrupt and the like."""
        begun = time.perf_counter()
        state = FAILED
        try:
            with self.lock.kept() if self.lock is not None else contextlib.nullcontext():
                self._run()
            state = DONE
        except solver.Cancelled:
            state = CANCELLED
        except Exception as error:  # also a fault of ours: the thread must not die without a word
            self.exception = error
            self.error = self._explained(error)
        finally:
            self.seconds = time.perf_counter() - begun
            self.seconds_left = None
            self.state = state

    def _explained(self, error):
        """A sentence for whatever went wrong."""
        if isinstance(error, solver.PliantError):
            self.status = error.status
            return _sentence(error)
        if isinstance(error, (BakeError, solver.LibraryError)):
            return str(error)
        if isinstance(error, OSError):
            return str(file_error(error, "write", error.filename or self.cache.folder))
        if isinstance(error, MemoryError):
            return "There is not enough memory for this bake."
        return f"A fault in Pliant: {type(error).__name__}: {error}."

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
            for frame in self.shot.frames[last + 1 - self.shot.start:]:
                self._check_cancel()
                recorder.advance(frame)
                self._simulated = frame.number
                self._progress(0.0)
                times.append(time.perf_counter())
                self.seconds_per_frame = (times[-1] - times[0]) / (len(times) - 1)
                self.seconds_left = self.seconds_per_frame * (self.shot.end - frame.number)
            recorder.take_warnings()  # also of what came while it ran
            self.fraction = 1.0

    def _check_lock(self):
        """Before anything is written: another may have the folder by now."""
        if self.lock is not None:
            self.lock.check()

    def _check_cancel(self):
        self._check_lock()
        if self._cancel.is_set():
            raise solver.Cancelled(solver.Status.CANCELLED)

    def _progress(self, fraction, _stage=""):
        """Of the frame that is being simulated; true: stop."""
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


class Recorder:
    """The library's scene of a shot, its store and its point caches, kept in step."""

    def __init__(self, job, scene):
        self.job, self.scene, self.shot, self.cache = job, scene, job.shot, job.cache
        self.store = None
        self.bodies, self.colliders, self.fields = [], [], []
        self.flows = []  # for each body: whether it may
        self.skins = []  # for each body: of the body itself, or, where it may flow, of its frames
        self.pins = []  # for each body: weights of its particles, or None
        self.writers = []
        self.rows = BackgroundWorker("Pliant point caches")
        self.rooms = []  # for each body: the array that its frames are skinned in
        self.transforms = []  # for each body: its object's matrix as bytes, and transforms.to_object()
        self.margin = 0.0  # see contact_margin()
        self.last = None  # the Frame that was set last

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        with contextlib.ExitStack() as ending:  # all of it, from the last to the first
            if self.store is not None:
                ending.callback(self.store.close)
            for skin in self.skins:
                if skin is not None:
                    ending.callback(skin.close)
            for writer in self.writers:
                ending.callback(writer.close)
            self.rows.close()
            if kind is None:
                for writer in self.writers:
                    writer.sync()

    # ------------------------------------------------------------ setting up

    def begin(self):
        """A new store, a new scene and its first frame."""
        settings = {"checkpoint_every": self.shot.checkpoint_every}
        if not self.shot.compression:
            settings["compression"] = solver.Compression.NONE
        self.store = self.cache.open_store("create", **settings)
        return self._first_frame()

    def _first_frame(self, keep=False):
        """A new scene and its first frame. keep: the store and the point caches have frames, which
        are compared and written again one by one."""
        shot, first = self.shot, self.shot.frames[0]
        for index, body in enumerate(shot.bodies):
            self.bodies.append(self._add_body(index, body, first.bodies[index]))
        self.margin = contact_margin(self.bodies)
        if first.contacts is not None:
            self._set_contacts(first)
        for collider, state in zip(shot.colliders, first.colliders):
            self.colliders.append(self._add_collider(collider, state))
        self._set_sleep(first)
        self._set_surfaces(first, None)
        for field, state in zip(shot.fields, first.fields):
            self.fields.append(self.scene.add_field(field.kind, **state))
        self._weld()
        self.take_warnings()
        self._bind()
        for body, made, weights, state in zip(shot.bodies, self.bodies, self.pins, first.bodies):
            if weights is not None:
                made.set_pins(pin_frequencies(body, weights, state.pin_strength))
        self._presettle()
        open_one = self._kept_writer if keep else self._writer
        self.writers = [open_one(b) for b in self.cache.bodies]
        self._write(first)
        self.rows.wait()
        self.last = first
        return first.number

    def _presettle(self):
        """Held bodies start in equilibrium. Sheets do not: they fall into folds."""
        shot, solid = self.shot, (solver.Sampling.BLUE_NOISE, solver.Sampling.GRID)
        for body, made, weights in zip(shot.bodies, self.bodies, self.pins):
            if not body.presettle or weights is None or made.info.sampling not in solid:
                continue
            self.job.stage = f"{body.name}: pre-settle"
            share = made.balance(dt=1.0 / shot.fps, substeps=shot.substeps,
                                 max_substeps=shot.max_substeps)
            if share == 0.0 and weights.any() and any(shot.frames[0].gravity):
                self._warn(f"'{body.name}' does not start in equilibrium: its pins cannot hold it.")
            elif 0.0 < share < .99:
                self._warn(f"'{body.name}' starts in equilibrium with {100 * share:.0f} % of its "
                           f"weight only, as it is too soft to carry more without much strain: it "
                           f"sags. Make it stiffer, or pin more of it.")

    def _add_body(self, index, body, state):
        job = self.job
        try:
            made, problem = volume.add_body(
                self.scene, body.vertices, body.triangles, state.material, origin=self.shot.origin,
                progress=lambda fraction, stage: job._building(index, fraction, stage),
                **body.settings, **body.factors)
        except solver.Cancelled:
            raise
        except solver.PliantError as error:  # the library does not know whose mesh it is
            raise solver.PliantError(error.status, f"'{body.name}': {error}") from error
        self._no_volume(body, problem)
        if body.follow_until is not None and body.follow_until > self.shot.start:
            made.set_follow(True)
        if state.fracture is not None:
            toughness.apply(made, body)
            made.set_fracture(**state.fracture)
            problem = fracture_cells.apply(made, body, state.fracture, self.shot.origin)
            self._warn(problem)
        return made

    def _warn(self, sentence):
        if sentence and sentence not in self.job.warnings:
            self.job.warnings.append(sentence)

    def _no_volume(self, body, problem):
        self._warn(problem and f"'{body.name}' keeps no volume: {problem}.")

    def _weld(self):
        """Where things touch at the first frame; in a bake that is resumed they are welded already."""
        known = {body.name: made for body, made in zip(self.shot.bodies, self.bodies)}
        ends = known | {c.name: made for c, made in zip(self.shot.colliders, self.colliders)}
        for weld in self.shot.welds:
            if not self.scene.weld(known[weld.body], ends[weld.to], weld.distance, weld.strength):
                self.job.warnings.append(f"'{weld.body}' does not touch '{weld.to}' at the first "
                                         f"frame: nothing is welded.")

    def _add_collider(self, collider, state):
        settings = dict(vars(state), thickness=state.thickness + self.margin, **_running(state))
        del settings["runs"]
        if collider.triangles is not None:
            settings.update(triangles=collider.triangles, origin=self.shot.origin)
        try:
            return self.scene.add_collider(collider.shape, inside_out=collider.inside_out,
                                           **settings)
        except solver.PliantError as error:
            raise solver.PliantError(error.status, f"'{collider.name}': {error}") from error

    def resume(self):
        """The scene of the latest checkpoint; its frame. Without a checkpoint the scene begins anew,
        and frames that are finished are compared with it. Where only rows of point caches are
        missing, nothing is simulated."""
        shot, cache, job = self.shot, self.cache, self.job
        self.store = cache.open_store("resume")
        info = self.store.info
        last = info.last_frame
        if job.from_frame is None and last >= shot.end and info.last_checkpoint >= shot.start:
            self._continue_point_caches(shot.end)
            return shot.end
        if job.from_frame is not None:
            last = min(last, job.from_frame)
        number = self._restored(last)
        if number is None:
            if job.from_frame is not None:
                self.store.truncate(shot.start - 1)
            return self._first_frame(keep=job.from_frame is None)
        if not shot.start <= number <= shot.end:
            raise CacheError(f"The cache's checkpoint is at frame {number}, which is outside of "
                             f"{shot.start} to {shot.end}.")
        if job.from_frame is not None:
            self.store.truncate(number)
        self.bodies, self.colliders = self.scene.bodies(), self.scene.colliders()
        self.margin = contact_margin(self.bodies)
        self.fields = self.scene.fields()
        found = (len(self.bodies), len(self.colliders), len(self.fields))
        wanted = (len(shot.bodies), len(shot.colliders), len(shot.fields))
        if found != wanted:
            raise CacheError("The cache's checkpoint has {} bodies, {} colliders and {} fields; "
                             "the scene has {}, {} and {}.".format(*found, *wanted))
        for field, known in zip(shot.fields, self.fields):
            known._desc.kind = field.kind
        self.take_warnings()
        self._bind()
        self._continue_point_caches(number)
        return number

    def _restored(self, last):
        """The frame of the latest checkpoint that can be used; None: there is none."""
        try:
            return self.store.restore(self.scene, last)
        except solver.PliantError as error:
            unusable = (solver.Status.ERROR_STATE, solver.Status.ERROR_FILE,
                        solver.Status.ERROR_FORMAT)
            if error.status not in unusable or self.scene.bodies():
                raise
            return None

    def _bind(self):
        for cached, made in zip(self.cache.bodies, self.bodies):
            points = fracture_cells.read(made, self.shot.origin)
            if len(points):
                self.cache.write_cells(cached, points)
        for cached, made, body in zip(self.cache.bodies, self.bodies, self.shot.bodies):
            if made.read(solver.Channel.SHELL).any():
                self.cache.write_faces(cached, body.triangles)
        for index, (body, made) in enumerate(zip(self.shot.bodies, self.bodies)):
            self.flows.append(may_flow(self.shot, index))
            self.skins.append(None if self.flows[index] else
                              made.skin(body.vertices, triangles=body.triangles,
                                        origin=self.shot.origin))
            self.rooms.append(np.empty_like(body.vertices, np.float32))
            self.transforms.append((None, None))
            weights = None
            if body.pins is not None:
                weights = pins.particle_weights(made, body, self.shot.origin)
            self.pins.append(weights)

    def _writer(self, cached, keep=False):
        """Rows go to the disk's own time, and are waited for at checkpoints only: what comes after
        the last one is simulated again anyway."""
        return pc2.Writer(self.cache.pc2_path(cached), cached.vertices, self.shot.start, keep=keep,
                          sync=False)

    def _kept_writer(self, cached):
        """Of a point cache that is there, if it can be gone on with."""
        try:
            return self._writer(cached, keep=True)
        except pc2.Pc2Error:
            return self._writer(cached)

    def _continue_point_caches(self, number):
        """Opens the point caches with whole rows up to a frame. Rows that an accident took, and
        those since the checkpoint before, which a power cut may have taken, come from the store
        again."""
        rows = number - self.shot.start + 1
        for cached in self.cache.bodies:
            writer = self._kept_writer(cached)
            self.writers.append(writer)
            if self.job.from_frame is not None:
                writer.truncate(rows)
            first = max(0, min(writer.frames, rows - self.shot.checkpoint_every))
            try:
                self._skin_again(cached, writer, range(first, rows))
            except solver.Cancelled:
                raise
            except solver.PliantError:
                if writer.frames < rows:
                    raise
                # the store has lost frames, but the rows are there and may well be whole

    def _skin_again(self, cached, writer, rows):
        body = self.shot.bodies[cached.index]
        with self.store.skin(cached.index, body.vertices, triangles=body.triangles,
                             origin=self.shot.origin) as skin:
            for row in rows:
                self.job._check_cancel()
                frame = self.shot.start + row
                transform = transforms.to_object(self.cache.matrix(cached, frame), self.shot.origin)
                writer.write(row, skin.apply(frame, origin=self.shot.origin,
                                             transform=transform).vertices)

    def take_warnings(self):
        """Those of the bodies, as sentences."""
        for body, made in zip(self.shot.bodies, self.bodies):
            for sentence in made.warnings:
                if "of the stiffness can be reached" in sentence:
                    sentence = self._substeps_warning(sentence)
                self._warn(f"{body.name}: {sentence}")

    def _substeps_warning(self, sentence):
        """Names the field and the value to set."""
        self.job.needed_substeps = self.scene.auto_substeps(1.0 / self.shot.fps, MOST_SUBSTEPS)
        field = "Number" if self.shot.substeps else "At Most"
        share = sentence.split(" of the stiffness")[0]
        if self.job.needed_substeps >= MOST_SUBSTEPS:
            return f"{share} of the stiffness can be reached: make it softer, or add levels (Clusters)."
        return f"{share} of the stiffness can be reached: set the substeps, {field}, to " \
               f"{self.job.needed_substeps} (Bake and Cache), or add levels (Clusters)."

    # ------------------------------------------------------------ frames

    def advance(self, frame):
        """Simulates up to a frame and writes it."""
        shot, job = self.shot, self.job
        self._set(frame)
        self.scene.advance(dt=1.0 / shot.fps, substeps=shot.substeps,
                           max_substeps=shot.max_substeps, progress=job._progress)
        if frame.contacts is not None:
            job._count_contacts(frame.number, self.scene.info.contacts)
        self._count_pieces(frame)
        self._write(frame)
        self.last = frame

    def _count_pieces(self, frame):
        for body, made, state in zip(self.shot.bodies, self.bodies, frame.bodies):
            if state.fracture is not None:
                self.job.pieces[body.name] = made.info.pieces

    def _set(self, frame):
        """Tells the library where everything is at the end of the frame."""
        shot = self.shot
        last = self.last  # None at first after a restore: everything is told again
        if last is None or last.gravity != frame.gravity:
            self.scene.set_gravity(frame.gravity)
        if last is None or not _same_contacts(last, frame):
            self._set_contacts(frame)
        if last is None or last.sleep != frame.sleep:
            self._set_sleep(frame)
        self._set_surfaces(frame, last)
        for index, made in enumerate(self.bodies):
            self._set_body(index, made, frame, last.bodies[index] if last else None)
        for index, made in enumerate(self.colliders):
            state = frame.colliders[index]
            if last is None or last.colliders[index] != state:
                if shot.colliders[index].triangles is not None:
                    made.set_mesh(state.vertices, origin=shot.origin)
                else:
                    made.move(state.position, state.rotation, state.extent)
                made.set(friction=state.friction, restitution=state.restitution,
                         thickness=state.thickness + self.margin, **_running(state))
        for index, made in enumerate(self.fields):
            if last is None or last.fields[index] != frame.fields[index]:
                made.set(**frame.fields[index])

    def _set_contacts(self, frame):
        """The same calls whatever was before: a bake that is resumed comes to the same."""
        on = frame.contacts is not None
        self.scene.set_contacts(**frame.contacts if on else {"enabled": 0})
        for made, state in zip(self.bodies, frame.bodies):
            made.set_contacts(*(state.contacts or () if on else ()))

    def _set_sleep(self, frame):
        self.scene.set_sleep(*frame.sleep or (0.0, 0.0))

    def _set_surfaces(self, frame, last):
        for index, (made, state) in enumerate(zip(self.bodies, frame.bodies)):
            if last is None or last.bodies[index].surface != state.surface:
                made.set_surface(*state.surface or ())

    def _set_body(self, index, made, frame, last):
        body, state, weights = self.shot.bodies[index], frame.bodies[index], self.pins[index]
        if last is None or last.material != state.material:
            self._no_volume(body, volume.set_material(made, state.material))
        if state.fracture is not None and (last is None or last.fracture != state.fracture):
            made.set_fracture(**state.fracture)
        follows = body.follow_until is not None and frame.number <= body.follow_until
        if body.follow_until is not None and not follows:
            made.set_follow(False)
        if weights is not None and (last is None or last.pin_strength != state.pin_strength):
            made.set_pins(pin_frequencies(body, weights, state.pin_strength))
        if state.pin_vertices is not None and (follows or weights is not None):
            made.set_pin_mesh(state.pin_vertices, origin=self.shot.origin)

    def _write(self, frame):
        """The frame into the store; then its rows are written while the next frame is simulated."""
        self.rows.wait()
        self.job._check_lock()
        try:
            self.store.write_frame(self.scene, frame.number)
        except solver.PliantError:
            self.job._check_lock()  # the store noticed it first: it was asleep in there
            raise
        for index, room in enumerate(self.rooms):
            self._skin(index, frame, room)
        self.rows.start(self._write_rows, frame.number)

    def _skin(self, index, frame, room):
        """What flows is skinned from the store: what its surface follows depends on all frames
        before, which a bake that is resumed has there."""
        origin, number = self.shot.origin, ()
        if self.flows[index]:
            number = (frame.number,)
            if self.skins[index] is None:
                body = self.shot.bodies[index]
                self.skins[index] = self.store.skin(index, body.vertices, origin=origin,
                                                    triangles=body.triangles)
        self.skins[index].apply(*number, origin=origin, out=room,
                                transform=self._transform(index, frame.bodies[index].matrix))

    def _write_rows(self, number):
        """In the other thread."""
        row = number - self.shot.start
        for writer, room in zip(self.writers, self.rooms):
            self.job._check_lock()
            writer.write(row, room)
            if row % self.shot.checkpoint_every == 0:
                writer.sync()
        self.job.frame = number

    def _transform(self, index, matrix):
        """Made anew only where the matrix is another, to the bit: a bake that is resumed, which
        knows none of the earlier ones, must come to the same."""
        bits = matrix.tobytes()
        known, transform = self.transforms[index]
        if known != bits:
            transform = transforms.to_object(matrix, self.shot.origin)
            self.transforms[index] = bits, transform
        return transform


def may_flow(shot, index):
    """Whether a body has a yield strain in any frame."""
    return any(math.isfinite(frame.bodies[index].material.get("yield", math.inf))
               for frame in shot.frames)


def _same_contacts(a, b):
    return a.contacts == b.contacts and (a.contacts is None or all(
        x.contacts == y.contacts for x, y in zip(a.bodies, b.bodies)))


def _running(state):
    """Keywords of a collider whose surface runs, or does not."""
    names = ("surface_velocity", "surface_spin", "surface_centre")
    return dict(zip(names, state.runs or ((0.0, 0.0, 0.0),) * 3))


def pin_frequencies(body, weights, strength):
    """Hertz for each particle. Only a full weight at full strength is held exactly."""
    frequencies = (weights * (body.pin_frequency * strength)).astype(np.float32)
    if body.pin_exact and strength >= 1.0:
        frequencies[weights >= .999] = solver.PIN_HELD
    return frequencies


def contact_margin(bodies):
    """How far the outermost particles lie within the mesh that they carry. Colliders stop particles,
    so they keep this much more distance: then the mesh rests on them and does not sink in. A sheet's
    particles are on it, but between them a round collider would show through. The finest body
    decides, so that none hovers."""
    filled = (solver.Sampling.BLUE_NOISE, solver.Sampling.GRID)
    return min((made.info.spacing * (MARGIN if made.info.sampling in filled else SKIN_MARGIN)
                for made in bodies), default=0.0)
