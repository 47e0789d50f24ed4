# SPDX-License-Identifier: GPL-3.0-or-later
"""Skinned vertices in an object's own coordinates: the one way from particles to point caches."""

from . import transforms


class ObjectSkin:
    """Vertices of a mesh that follow a body as it is now (source: a solver.Body), or in a frame of a store
    (source: a solver.Store; index: which of its bodies). vertices: at rest, relative to origin."""

    def __init__(self, source, vertices, triangles, origin, index=None):
        of_store = () if index is None else (index,)
        self._skin = source.skin(*of_store, vertices, triangles=triangles, origin=origin)
        self._origin = origin
        self._matrix, self._transform = None, None

    def at(self, matrix, frame=None, *, velocities=False, out=None):
        """The solver.Skinned of an object with that matrix, an array; velocities stay in world space."""
        return self._skin.apply(
            *(() if frame is None else (frame,)),
            origin=self._origin,
            out=out,
            velocities=velocities,
            transform=self._to_object(matrix),
        )

    def _to_object(self, matrix):
        """Made anew only where the matrix is another, to the bit: a bake that is resumed, which
        knows none of the earlier ones, must come to the same."""
        bits = matrix.tobytes()
        if bits != self._matrix:
            self._matrix, self._transform = bits, transforms.to_object(matrix, self._origin)
        return self._transform

    def close(self):
        self._skin.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
