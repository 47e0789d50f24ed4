# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh of a broken body: cut along its cracks once, then skinned like any other mesh.

The cut mesh is kept in the cache, under the name of the mesh and a hash of its inputs: other
formats and later sessions reuse it.
"""

import dataclasses
import hashlib
import zipfile

import numpy as np

from .. import fracture
from ..fracture import archive, binding
from ..solver import Channel
from . import transforms
from .errors import BakeError
from .files import open_regular
from .manifest import replaced
from .output import Output, store_of

ENDING = "broken"


def is_broken(cache, body, partial=False):
    """Whether a baked body is in several pieces at its last frame. partial: whether it has any
    crack, even one that separates nothing."""
    with store_of(cache) as store:
        if store.body_info(body.index).splits == 0:
            return False
        if partial:
            return True
        piece = store.read(body.index, store.info.last_frame, Channel.PIECE)
        return bool((piece != piece[:1]).any())


def load(path, particles, like=None, made_from=None):
    """The fracture.Broken in a file; None: it is missing or not valid. The file is untrusted:
    everything that the code and Blender rely on is checked. like: the Surface that was cut."""
    try:
        with open_regular(path) as file:
            found = archive.load(file)
        broken = found["broken"]
        if made_from not in (None, found["made_from"]) or not isinstance(broken, fracture.Broken):
            return None
        fracture.check_broken(broken, particles, like)
        return broken
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        EOFError,
        MemoryError,
        RecursionError,
        NotImplementedError,
        OverflowError,
        zipfile.BadZipFile,
        fracture.CrackError,
    ):
        return None


class FracturedOutput(Output):
    """An Output of the mesh with its cracks.

    surface: a fracture.Surface; its vertices are ignored, the baked ones or `rest` are used.
    opening: frames over which the sides of a fresh crack separate. partial: also cut cracks that
    end inside a piece and separate nothing. cancelled, progress: callbacks while it is cut; a
    BakeError if cancelled.
    """

    def __init__(
        self,
        cache,
        body,
        surface,
        look,
        opening,
        name=None,
        rest=None,
        matrices=None,
        partial=False,
        cancelled=lambda: False,
        progress=None,
    ):
        super().__init__(cache, body, name, rest, matrices)
        self.name = f"{self.name}.{ENDING}"
        self.opening = float(opening)
        surface.vertices = np.asarray(cache.rest(body) if self.own else rest, np.float64)
        with store_of(cache) as store:
            self.particles = fracture.Particles(*store.broken(body.index, cache.origin), cell_point=cache.cells(body))
            piece, birth = (
                store.read(body.index, self.last, channel) for channel in (Channel.PIECE, Channel.PIECE_BIRTH)
            )
            if store.read(body.index, self.last, Channel.RENEWED).any():
                hold_flowed(self.particles, piece, birth)
            if not partial:
                hold_pieces(self.particles, piece)
        self.made_from = _digest(surface, self.particles, look)
        self.broken = self._kept(surface) or self._cut(surface, look, cancelled, progress)
        if self.broken.untouched:
            self.broken.surface = surface
        self.vertices = len(self.broken.surface.vertices)

    def _kept(self, surface):
        """The cached cut, or None."""
        return load(self.path("npz"), len(self.particles.rest), surface, self.made_from)

    def _cut(self, surface, look, cancelled, progress):
        try:
            broken = fracture.break_in_background(surface, self.particles, look, cancelled, progress)
        except fracture.CrackError as error:
            raise BakeError(str(error)) from error
        if broken is None:
            raise BakeError("Cutting along the cracks was cancelled.")
        with replaced(self.path("npz")) as unfinished:
            archive.save(unfinished, broken=broken, made_from=self.made_from)
        return broken

    def _mark(self, path):
        mark = super()._mark(path)
        return mark and (*mark, self.made_from, self.opening)

    def store(self):
        """The bake's frame store, to be used with `with`."""
        return store_of(self.cache)

    @property
    def pieces(self):
        """Number of pieces at the end."""
        return int(self.broken.piece.max(initial=-1)) + 1

    def numbers(self):
        """The library's number of each piece, which does not change while others break."""
        with self.store() as store:
            number = store.read(self.body.index, self.last, Channel.PIECE).astype(np.int64)
        return np.array(
            [np.bincount(number[self.broken.copy[self.broken.piece == part]]).argmax() for part in range(self.pieces)],
            np.int64,
        )

    # ------------------------------------------------------------ frames

    def places(self, frames):
        """Vertex positions of each frame, in world space relative to the origin."""
        rest = self.broken.surface.vertices
        with store_of(self.cache) as store:
            for frame in frames:
                position, gradient = (
                    store.read(self.body.index, frame, channel, origin=self.cache.origin)
                    for channel in (Channel.POSITION, Channel.DEFORMATION)
                )
                yield binding.skin(
                    self.broken.binding,
                    rest,
                    self.particles.rest,
                    position.astype(np.float64),
                    gradient.reshape(-1, 3, 3).astype(np.float64),
                    frame,
                    self.opening,
                )

    def skinned(self, frames=None, velocities=False):
        frames = list(self.frames if frames is None else frames)
        if not velocities:
            for frame, place in zip(frames, self.places(frames)):
                yield frame, self._to_object(place, frame), None
            return
        for frame, before, place, after, seconds in self._with_neighbours(frames):
            yield frame, self._to_object(place, frame), ((after - before) / seconds).astype(np.float32)

    def _to_object(self, place, frame):
        return transforms.mapped(place, transforms.to_object(self.matrix(frame), self.cache.origin))

    def _with_neighbours(self, frames):
        """frame, positions in the frame before, in it and in the frame after, seconds between the
        first and the last of these."""
        known = {}
        for frame in frames:
            wanted = [min(max(f, self.first), self.last) for f in (frame - 1, frame, frame + 1)]
            lacking = sorted(set(wanted) - set(known))
            known.update(zip(lacking, self.places(lacking)))
            known = {f: known[f] for f in set(wanted)}
            yield (frame, *(known[f] for f in wanted), max(wanted[2] - wanted[0], 1) / self.cache.fps)

    # ------------------------------------------------------------ channels at vertices

    def stretch(self):
        """Largest stretch of the material at each vertex over all frames: 1 is at rest."""
        most = None
        with store_of(self.cache) as store:
            for frame in self.frames:
                values = store.read(self.body.index, frame, Channel.STRETCH)
                most = values if most is None else np.maximum(most, values)
        return self._at_vertices(most)

    def carried(self, channels):
        """As Output.carried(), for the material that a vertex follows in each frame."""
        with store_of(self.cache) as store:
            for frame in self.frames:
                yield np.array(
                    [self._at_vertices(store.read(self.body.index, frame, channel), frame) for channel in channels]
                )

    def _at_vertices(self, values, frame=-np.inf):
        """Particle values at the vertices that follow them at a frame."""
        bound = self.broken.binding
        vertex = np.repeat(np.arange(self.vertices), np.diff(bound.begin))
        kernel = np.where(bound.until >= frame, bound.kernel, 0)
        total = np.bincount(vertex, kernel, self.vertices)
        return np.bincount(vertex, kernel * values[bound.particle], self.vertices) / total


def hold_pieces(particles, piece):
    """Closes cracks that separate nothing: particles in one piece in the last frame count as never
    parted."""
    a, b = particles.pairs.T
    particles.until[piece[a] == piece[b]] = np.inf


def hold_flowed(particles, piece, birth):
    """Reclustering can end shared clusters of neighbours that flowed apart, although nothing broke
    between them. Such pairs stay joined while they are in one piece, unless a cluster was split
    there when they parted; in two pieces, until the pieces parted."""
    piece = piece.astype(np.int64)
    a, b = particles.pairs.T
    ended = np.flatnonzero(np.isfinite(particles.until))
    middle = (particles.rest[a[ended]] + particles.rest[b[ended]]) / 2
    split = np.zeros(len(ended), bool)
    order = np.argsort(particles.plane_time, kind="stable")
    times = particles.plane_time[order]
    for time in np.unique(particles.until[ended]):
        there = np.flatnonzero(particles.until[ended] == time)
        # the last frame in which they shared a cluster
        first, last = np.searchsorted(times, (time - 1e-3, time + 1 + 1e-3))
        for s in order[first:last]:
            away = ((middle[there] - particles.plane_point[s]) ** 2).sum(1)
            split[there] |= away < (particles.plane_reach[s] + particles.spacing) ** 2
    flowed = ended[~split]
    one = piece[a[flowed]] == piece[b[flowed]]
    parted = np.maximum(birth[piece[a[flowed]]], birth[piece[b[flowed]]])
    particles.until[flowed] = np.where(one, np.inf, np.maximum(particles.until[flowed], parted))


def _digest(surface, particles, look):
    digest = hashlib.blake2b(digest_size=16)

    def add(value):
        if dataclasses.is_dataclass(value):
            value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        if isinstance(value, dict):
            for name, item in value.items():
                digest.update(name.encode())
                add(item)
        elif isinstance(value, np.ndarray):
            digest.update(str((value.dtype.str, value.shape)).encode())
            digest.update(np.ascontiguousarray(value))
        else:
            digest.update(repr(value).encode())

    for value in (surface, particles, look):
        add(value)
    return digest.hexdigest()
