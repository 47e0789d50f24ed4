# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the point caches during a bake: skinned in the job's thread, written in a worker thread."""

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
        self.flows = []  # for each body: whether it may flow
        self.skins = []  # for each body: a skin of the body, or, if it may flow, of its stored frames
        self.rooms = []  # for each body: the array that its frames are skinned into
        self.writers = []
        self.rows = BackgroundWorker("Pliant point caches")

    def close(self, ending, sync):
        """ending: an ExitStack. Creates all point caches, from frame first to last."""
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
        """bodies: the solver's, in their modelled state or restored."""
        for index, (body, made) in enumerate(zip(self.shot.bodies, bodies)):
            self.flows.append(may_flow(self.shot, index))
            self.skins.append(
                None if self.flows[index] else ObjectSkin(made, body.vertices, body.triangles, self.shot.origin)
            )
            self.rooms.append(np.empty_like(body.vertices, np.float32))

    def _stored(self, store, index):
        """A skin of the stored frames of a body."""
        body = self.shot.bodies[index]
        return ObjectSkin(store, body.vertices, body.triangles, self.shot.origin, index)

    def open(self, keep=False):
        """keep: existing files are continued."""
        open_one = self._kept_writer if keep else self._writer
        self.writers = [open_one(cached) for cached in self.cache.bodies]

    def _writer(self, cached, keep=False):
        """Rows are written asynchronously and synced only at checkpoints: later rows would be
        simulated again after an accident anyway."""
        return pc2.Writer(self.cache.pc2_path(cached), cached.vertices, self.shot.start, keep=keep, sync=False)

    def _kept_writer(self, cached):
        """A writer for an existing point cache, if it can be continued."""
        try:
            return self._writer(cached, keep=True)
        except pc2.Pc2Error:
            return self._writer(cached)

    def resume(self, store, number):
        """Opens the point caches with complete rows up to a frame. Rows that were lost, and rows
        since the checkpoint before, which a power cut may have lost, are made again from the
        store."""
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
                # the store has lost frames, but the rows may be complete

    def _skin_again(self, store, cached, writer, rows):
        with self._stored(store, cached.index) as skin:
            for row in rows:
                self.job._check_cancel()
                frame = self.shot.start + row
                writer.write(row, skin.at(self.cache.matrix(cached, frame), frame).vertices)

    # ------------------------------------------------------------ frames

    def write(self, store, frame):
        """Skins a stored frame and hands its rows to the worker; the rows before it are on the
        disk. Bodies that flow are skinned from the store: their bindings depend on all frames
        before, which a resumed bake has only there."""
        for index, room in enumerate(self.rooms):
            if self.skins[index] is None:
                self.skins[index] = self._stored(store, index)
            self.skins[index].at(frame.bodies[index].matrix, frame.number if self.flows[index] else None, out=room)
        self.rows.start(self._write_rows, frame.number)

    def _write_rows(self, number):
        """Runs in the worker thread."""
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
