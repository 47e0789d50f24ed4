# SPDX-License-Identifier: GPL-3.0-or-later
"""Connected pieces of a baked body at a frame, as colours. Does not import bpy.

A vertex of a mesh with cracks has the colour of its particle's piece; without cracks that of the
nearest particle at the first frame. Pieces keep their numbers: what does not break keeps its
colour.
"""

import numpy as np

from ..bake import fractured_output
from ..bake.errors import BakeError
from ..solver import Channel
from . import palette
from .strain import Baked


class Pieces(Baked):
    """The pieces of one baked body; is_cut: its object shows the mesh with cracks."""

    why = "bake it to see its pieces"

    def __init__(self, cache, name, is_cut):
        super().__init__(cache, name)
        self.is_cut = is_cut
        if is_cut:
            path = cache.folder / f"{cache.body(name).file_name}.{fractured_output.ENDING}.npz"
            found = fractured_output.load(path, len(self.read(cache.start, Channel.PIECE)))
            if found is None:
                raise BakeError(f"{path} is missing or damaged: press Make Result to cut '{name}' again.")
            self.particle = found.copy
        self.choices = palette.linear_from_srgb(palette.candidates())

    def colours(self, frame):
        """(v, 4) linear, for the nearest frame that is baked."""
        piece = self.read(frame, Channel.PIECE).astype(np.int64)
        found = np.ones((len(self.particle), 4), np.float32)
        found[:, :3] = self.choices[piece % len(self.choices)][self.particle]
        return found
