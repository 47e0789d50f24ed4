# SPDX-License-Identifier: GPL-3.0-or-later
"""Plastic strain and new clusters of a baked body, as vertex colours. Does not import bpy.

A vertex has the plastic strain of the nearest particle at the bake's first frame. Colours range
from zero to the largest strain of the bake's last frame, so that frames can be compared.
"""

import numpy as np

from ..bake.errors import BakeError
from ..solver import Channel, PliantError
from . import palette

LEAST = 0.01  # plastic strain below which a bake shows none
# from untouched to the largest strain, sRGB
RAMP = np.array([(0.16, 0.20, 0.42), (0.13, 0.50, 0.62), (0.40, 0.75, 0.42), (0.96, 0.82, 0.25), (0.88, 0.25, 0.16)])

CHOICES = palette.candidates()
GREY = np.array((0.55, 0.55, 0.55))  # of clusters that were there from the start


def ramp(values):
    """(n, 3) sRGB colours of values from 0 to 1."""
    at = np.clip(values, 0, 1) * (len(RAMP) - 1)
    low = np.minimum(at.astype(int), len(RAMP) - 2)
    part = (at - low)[:, None]
    return (1 - part) * RAMP[low] + part * RAMP[low + 1]


class Baked:
    """A baked body with a value per particle at every frame."""

    why = ""  # reason to bake it, for the error sentence

    def __init__(self, cache, name):
        """BakeError: the body is not baked, or the bake cannot be read."""
        body = cache.body(name)
        baked = cache.baked()
        if body is None or baked is None:
            raise BakeError(f'"{name}" is not baked: {self.why}')
        self.cache, self.index = cache, body.index
        self.first, self.last = baked
        self.mark = mark(cache)
        with self._store() as store:
            places = store.read(self.index, self.first, Channel.POSITION, origin=cache.origin)
            self.particle = palette.nearest(cache.rest(body), places)

    def _store(self):
        try:
            return self.cache.open_store()
        except PliantError as error:
            raise BakeError(str(error)) from error

    def read(self, frame, channel):
        """Particle values at the nearest baked frame."""
        frame = min(max(frame, self.first), self.last)
        with self._store() as store:
            try:
                return store.read(self.index, frame, channel)
            except PliantError as error:
                raise BakeError(str(error)) from error

    def of_vertices(self, srgb):
        """(v, 4) linear from (n, 3) of the particles."""
        found = np.ones((len(self.particle), 4), np.float32)
        found[:, :3] = palette.linear_from_srgb(srgb)[self.particle]
        return found


class Strains(Baked):
    """The plastic strains of one baked body."""

    why = "bake it to see where it flows"

    def __init__(self, cache, name):
        super().__init__(cache, name)
        self.most = float(self.read(self.last, Channel.PLASTIC_STRAIN).max())

    def colours(self, frame):
        """(v, 4) linear, for the nearest frame that is baked."""
        return self.of_vertices(ramp(self.read(frame, Channel.PLASTIC_STRAIN) / max(self.most, LEAST)))


class Renewed(Baked):
    """New clusters of one baked body: the initial ones grey, later ones in colours."""

    why = "bake it to see where its clusters are renewed"

    def colours(self, frame):
        """(v, 4) linear, for the nearest frame that is baked."""
        share = np.clip(self.read(frame, Channel.RENEWED), 0, 1)[:, None]
        cluster = self.read(frame, Channel.NEAREST_CLUSTER)
        return self.of_vertices((1 - share) * GREY + share * CHOICES[cluster % len(CHOICES)])


def mark(cache):
    """Changes with every bake, and while one grows."""
    try:
        found = (cache.store_path / "journal.plj").stat()
    except OSError:
        return None
    return str(cache.folder), found.st_mtime_ns, found.st_size, found.st_ino
