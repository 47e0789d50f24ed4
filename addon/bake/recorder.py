# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the library's scene of a shot, its store and its point caches in step, frame by frame."""

import contextlib

from .. import solver
from . import fracture_cells
from .cache import CacheError
from .point_caches import PointCaches
from .shot_scene import ShotScene


class Recorder:
    """The outputs of a job. After a new start or a resume it advances frame by frame."""

    def __init__(self, job, scene):
        self.job, self.scene, self.shot, self.cache = job, scene, job.shot, job.cache
        self.shot_scene = ShotScene(job, scene)
        self.point_caches = PointCaches(job)
        self.store = None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        with contextlib.ExitStack() as ending:
            if self.store is not None:
                ending.callback(self.store.close)
            self.point_caches.close(ending, sync=kind is None)

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
        first = self.shot.frames[0]
        self.shot_scene.make()
        self._bind()
        self.shot_scene.hold()
        self.point_caches.open(keep)
        self._write(first)
        self.point_caches.rows.wait()
        return first.number

    def resume(self):
        """Restores the latest checkpoint; returns its frame. Without a checkpoint the scene starts
        anew, and stored frames are compared with it. If only rows of point caches are missing,
        nothing is simulated."""
        shot, job = self.shot, self.job
        self.store = self.cache.open_store("resume")
        info = self.store.info
        last = info.last_frame
        if job.from_frame is None and last >= shot.end and info.last_checkpoint >= shot.start:
            self.point_caches.resume(self.store, shot.end)
            return shot.end
        if job.from_frame is not None:
            last = min(last, job.from_frame)
        number = self._restored(last)
        if number is None:
            if job.from_frame is not None:
                self.store.truncate(shot.start - 1)
            return self._first_frame(keep=job.from_frame is None)
        if not shot.start <= number <= shot.end:
            raise CacheError(
                f"The cache's checkpoint is at frame {number}, which is outside of {shot.start} to {shot.end}."
            )
        if job.from_frame is not None:
            self.store.truncate(number)
        self.shot_scene.take()
        self._bind()
        self.shot_scene.weigh_pins()
        self.point_caches.resume(self.store, number)
        return number

    def _restored(self, last):
        """The frame of the latest usable checkpoint, or None."""
        try:
            return self.store.restore(self.scene, last)
        except solver.PliantError as error:
            unusable = (solver.Status.ERROR_STATE, solver.Status.ERROR_FILE, solver.Status.ERROR_FORMAT)
            if error.status not in unusable or self.scene.bodies():
                raise
            return None

    def _bind(self):
        """Binds the skins; what results need besides is in the cache."""
        bodies = self.shot_scene.bodies
        for cached, made in zip(self.cache.bodies, bodies):
            points = fracture_cells.read(made, self.shot.origin)
            if len(points):
                self.cache.write_cells(cached, points)
        for cached, made, body in zip(self.cache.bodies, bodies, self.shot.bodies):
            if made.read(solver.Channel.SHELL).any():
                self.cache.write_faces(cached, body.triangles)
        self.point_caches.bind(bodies)

    # ------------------------------------------------------------ frames

    def advance(self, frame):
        """Simulates up to a frame and writes it."""
        self.shot_scene.advance(frame)
        self._write(frame)

    def take_warnings(self):
        self.shot_scene.take_warnings()

    def _write(self, frame):
        """Stores the frame; its rows are written while the next frame is simulated."""
        self.point_caches.rows.wait()
        self.job._check_lock()
        try:
            self.store.write_frame(self.scene, frame.number)
        except solver.PliantError:
            self.job._check_lock()  # the store detected it first: this process was suspended in there
            raise
        self.point_caches.write(self.store, frame)
