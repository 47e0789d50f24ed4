# SPDX-License-Identifier: GPL-3.0-or-later
"""From a bake's frame store to point caches, for the body's own mesh or any other, without
simulating.

The frame store is authoritative. A point cache that is missing, incomplete or from another bake is
made again from it.
"""

import contextlib
import hashlib
import os
import re

import numpy as np

from .. import solver
from ..solver import Channel
from . import interpolation, transforms
from .errors import BakeError
from .formats import mdd, pc2
from .skinning import ObjectSkin
from .manifest import replaced

_known = {}  # path of a PC2 file that was made or verified in this session -> Output._mark()


def bound_name(body, object_name):
    """A file name for another object's mesh that follows a body; unique by object name."""
    letters = re.sub(r"[^A-Za-z0-9_-]+", "_", object_name).strip("_")[:40]
    mark = hashlib.blake2b(object_name.encode(), digest_size=3).hexdigest()
    return f"{body.file_name}.on-{letters or 'mesh'}-{mark}"


@contextlib.contextmanager
def store_of(cache):
    """A bake's frame store; its errors become BakeErrors."""
    try:
        with cache.open_store() as store:
            yield store
    except solver.PliantError as error:
        raise BakeError(f"The frames in {cache.store_path} cannot be used: {str(error).rstrip('.')}.") from error


class Output:
    """A mesh that follows a baked body.

    rest: its vertices at the bake's first frame, in world space relative to cache.origin, and
    matrices: its object's matrix at each frame (or once, if it never moves); without them it is the
    body's own mesh. name: the stem of its files in the cache folder. triangles: of that mesh, if it
    is not the body's.
    """

    def __init__(self, cache, body, name=None, rest=None, matrices=None, triangles=None):
        self.cache, self.body = cache, body
        self.own = rest is None
        self.name = body.file_name if self.own else name
        self._rest, self._matrices, self._triangles = rest, matrices, triangles
        self.vertices = body.vertices if self.own else len(rest)
        baked = cache.baked()
        if baked is None:
            raise BakeError(f"No frame is finished in {cache.folder}: bake first.")
        if baked[0] != cache.start:
            raise BakeError(
                f"The frames in {cache.store_path} start at {baked[0]}, not at "
                f"{cache.start}: the cache is damaged. Clear it and bake again."
            )
        self.first, self.last = baked[0], min(baked[1], cache.end)

    @property
    def count(self):
        return self.last - self.first + 1

    @property
    def frames(self):
        return range(self.first, self.last + 1)

    def path(self, ending):
        """A file of this mesh in the cache's folder, such as path("mdd")."""
        return self.cache.folder / f"{self.name}.{ending}"

    def matrix(self, frame):
        if self.own:
            return self.cache.matrix(self.body, frame)
        index = frame - self.first if len(self._matrices) > 1 else 0
        return self._matrices[min(index, len(self._matrices) - 1)]

    # ------------------------------------------------------------ frames

    def skinned(self, frames=None, velocities=False):
        """For each frame the skinned mesh in the object's own coordinates: (frame, vertices,
        velocities in world space, or None)."""
        rest = self.cache.rest(self.body) if self.own else self._rest
        triangles = self.cache.faces(self.body) if self.own else self._triangles
        with (
            store_of(self.cache) as store,
            ObjectSkin(store, rest, triangles, self.cache.origin, self.body.index) as skin,
        ):
            for frame in self.frames if frames is None else frames:
                moved = skin.at(self.matrix(frame), frame, velocities=velocities)
                yield frame, moved.vertices, moved.velocities

    def local(self, frames=None):
        """The vertices of each frame in the object's own coordinates."""
        for _, vertices, _ in self.skinned(frames):
            yield vertices

    def local_velocities(self):
        """Velocities of the vertices in the object's own coordinates, per second: their motion
        relative to the object's, as motion blur needs it."""
        for frame, local, velocities in self.skinned(velocities=True):
            yield self._local_velocity(frame, local, velocities)

    def _local_velocity(self, frame, local, velocities):
        rate = self._matrix_rate(frame)
        if rate.any():
            velocities = velocities - transforms.to_simulation(local, rate, (0.0, 0.0, 0.0))
        return transforms.vectors_to_local(velocities, self.matrix(frame))

    def _matrix_rate(self, frame):
        """Rate of change of the matrix per second, by central differences."""
        before, after = max(frame - 1, self.first), min(frame + 1, self.last)
        seconds = max(after - before, 1) / self.cache.fps
        return (self.matrix(after) - self.matrix(before)) / seconds

    # ------------------------------------------------------------ channels at vertices

    def flows(self):
        """Whether the body has plastic strain in the last frame."""
        with store_of(self.cache) as store:
            return bool(store.read(self.body.index, self.last, Channel.PLASTIC_STRAIN).any())

    def carried(self, channels):
        """For each frame scalar particle channels at the vertices: an array (channels, vertices)."""
        index, origin = self.body.index, self.cache.origin
        with store_of(self.cache) as store:
            spacing = store.body_info(index).spacing
            for frame, row in zip(self.frames, self.rows()):
                there = store.read(index, frame, Channel.MASS) > 0
                values = np.array([store.read(index, frame, c)[there] for c in channels])
                if (values == values[:, :1]).all():  # constant, as before any flow
                    yield np.repeat(values[:, :1], self.vertices, axis=1)
                    continue
                particles = store.read(index, frame, Channel.POSITION, origin=origin)[there]
                places = transforms.to_simulation(row, self.matrix(frame), origin)
                yield interpolation.means(places, particles, values, spacing)

    # ------------------------------------------------------------ files

    def point_cache(self, progress=None):
        """Path of this mesh's PC2 file; it is made if there is none that matches the bake."""
        path = self.path("pc2")
        if not self._is_ready(path):
            self.write_pc2(path, progress)
            self._remember(path)
        return path

    def point_cache_and(self, velocities, progress=None):
        """point_cache(), and a PC2 file whose vertices are velocities."""
        path = self.path("pc2")
        if self._is_ready(path):
            self._write_pc2(velocities, self.local_velocities(), progress)
            return path
        with (
            new_pc2(path, self.vertices, self.first) as places,
            new_pc2(velocities, self.vertices, self.first) as speeds,
        ):
            frames = self.skinned(velocities=True)
            for frame, local, moving in _counted(frames, self.count, progress):
                places.append(local)
                speeds.append(self._local_velocity(frame, local, moving))
        self._remember(path)
        return path

    def _is_ready(self, path):
        mark = self._mark(path)
        if mark is not None and _known.get(str(path)) == mark:
            return True
        # another mesh's object may have moved since: only a file made now is known to match
        ready = self.own and self._fits(path)
        if ready:
            self._remember(path)
        return ready

    def _remember(self, path):
        _known[str(path)] = self._mark(path)

    def _mark(self, path):
        """A mark of all inputs of the file and of the file itself; None: no file."""
        digest = hashlib.blake2b(digest_size=16)
        if not self.own:
            digest.update(np.ascontiguousarray(self._rest))
            digest.update(np.ascontiguousarray(self._matrices))
        try:
            files = [os.stat(p) for p in (path, self.cache.folder / "bake.json", self.cache.store_path / "journal.plj")]
        except OSError:
            return None
        return digest.digest(), self.first, self.last, *((f.st_mtime_ns, f.st_size, f.st_ino) for f in files)

    def _fits(self, path):
        """Whether a file is complete and of this bake: its first and last frames are compared."""
        try:
            pc2.check(path, self.vertices, self.count)
        except BakeError:
            return False
        rows = pc2.frames(path)
        ends = sorted({self.first, self.last})
        return all(np.array_equal(rows[frame - self.first], local) for frame, local in zip(ends, self.local(ends)))

    def rows(self, progress=None):
        """The frames as an array (frames, vertices, 3), mapped from the PC2 file."""
        return pc2.frames(self.point_cache(progress))[: self.count]

    def write_pc2(self, path, progress=None):
        self._write_pc2(path, self.local(), progress)

    def _write_pc2(self, path, frames, progress):
        write_pc2(path, self.vertices, self.first, _counted(frames, self.count, progress))

    def write_mdd(self, path, progress=None):
        times = (np.arange(self.count) / self.cache.fps).astype(np.float32)
        mdd.write(path, self.vertices, times, _counted(self.rows(), self.count, progress))


@contextlib.contextmanager
def new_pc2(path, vertices, start):
    """A Writer whose file is renamed into place when complete; until then an existing file stays."""
    with replaced(path) as unfinished:
        with pc2.Writer(unfinished, vertices, start, sync=False) as writer:
            yield writer


def write_pc2(path, vertices, start, frames):
    with new_pc2(path, vertices, start) as writer:
        for row in frames:
            writer.append(row)


def _counted(frames, count, progress):
    for index, row in enumerate(frames):
        yield row
        if progress:
            progress((index + 1) / count)
