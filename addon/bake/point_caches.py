# SPDX-License-Identifier: GPL-3.0-or-later
"""The point caches of a bake while it goes on: skinned in the job's thread, written in another."""

import math

import numpy as np

from .. import solver
from .background import BackgroundWorker
from .formats import pc2
from .skinning import ObjectSkin


class PointCaches:
    """One file for each body of a job's cache."""

    def __init__(self, job):
        self.job, self.shot, self.cache = job, job.shot, job.cache
        self.flows = []  # for each body: whether it may
        self.skins = []  # for each body: of the body itself, or, where it may flow, of its frames
        self.rooms = []  # for each body: the array that its frames are skinned in
        self.writers = []
        self.rows = BackgroundWorker("Pliant point caches")

    def close(self, ending, sync):
        """ending: an ExitStack. All of it, from the last to the first."""
        for skin in self.skins:
            if skin is not None:
                ending.callback(skin.close)
        for writer in self.writers:
            ending.callback(writer.close)
        self.rows.close()
        if sync:
            for writer in self.writers:
                writer.sync()

    # ------------------------------------------------------------ opening

    def bind(self, bodies):
        """bodies: the solver's, as they were modelled or restored."""
        for index, (body, made) in enumerate(zip(self.shot.bodies, bodies)):
            self.flows.append(may_flow(self.shot, index))
            self.skins.append(
                None if self.flows[index] else ObjectSkin(made, body.vertices, body.triangles, self.shot.origin)
            )
            self.rooms.append(np.empty_like(body.vertices, np.float32))

    def _stored(self, store, index):
        """A skin of the frames of a body."""
        body = self.shot.bodies[index]
        return ObjectSkin(store, body.vertices, body.triangles, self.shot.origin, index)

    def open(self, keep=False):
        """keep: those that are there are gone on with."""
        open_one = self._kept_writer if keep else self._writer
        self.writers = [open_one(cached) for cached in self.cache.bodies]

    def _writer(self, cached, keep=False):
        """Rows go to the disk's own time, and are waited for at checkpoints only: what comes after
        the last one is simulated again anyway."""
        return pc2.Writer(self.cache.pc2_path(cached), cached.vertices, self.shot.start, keep=keep, sync=False)

    def _kept_writer(self, cached):
        """Of a point cache that is there, if it can be gone on with."""
        try:
            return self._writer(cached, keep=True)
        except pc2.Pc2Error:
            return self._writer(cached)

    def resume(self, store, number):
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
                self._skin_again(store, cached, writer, range(first, rows))
            except solver.Cancelled:
                raise
            except solver.PliantError:
                if writer.frames < rows:
                    raise
                # the store has lost frames, but the rows are there and may well be whole

    def _skin_again(self, store, cached, writer, rows):
        with self._stored(store, cached.index) as skin:
            for row in rows:
                self.job._check_cancel()
                frame = self.shot.start + row
                writer.write(row, skin.at(self.cache.matrix(cached, frame), frame).vertices)

    # ------------------------------------------------------------ frames

    def write(self, store, frame):
        """Skins a frame that the store has, and hands its rows over; the rows before are written. What
        flows is skinned from the store: what its surface follows depends on all frames before, which a
        bake that is resumed has there."""
        for index, room in enumerate(self.rooms):
            if self.skins[index] is None:
                self.skins[index] = self._stored(store, index)
            self.skins[index].at(frame.bodies[index].matrix, frame.number if self.flows[index] else None, out=room)
        self.rows.start(self._write_rows, frame.number)

    def _write_rows(self, number):
        """In the other thread."""
        row = number - self.shot.start
        for writer, room in zip(self.writers, self.rooms):
            self.job._check_lock()
            writer.write(row, room)
            if row % self.shot.checkpoint_every == 0:
                writer.sync()
        self.job.frame = number


def may_flow(shot, index):
    """Whether a body has a yield strain in any frame."""
    return any(math.isfinite(frame.bodies[index].material.get("yield", math.inf)) for frame in shot.frames)
