# SPDX-License-Identifier: GPL-3.0-or-later
"""Skinned vertices in an object's own coordinates, for all point caches."""

from . import transforms


class ObjectSkin:
    """Vertices of a mesh that follow a body in its current state (source: a solver.Body), or in a
    stored frame (source: a solver.Store; index: of the body). vertices: at rest, relative to
    origin."""

    def __init__(self, source, vertices, triangles, origin, index=None):
        of_store = () if index is None else (index,)
        self._skin = source.skin(*of_store, vertices, triangles=triangles, origin=origin)
        self._origin = origin
        self._matrix, self._transform = None, None

    def at(self, matrix, frame=None, *, velocities=False, out=None):
        """The solver.Skinned of an object with that matrix (array); velocities stay in world space."""
        return self._skin.apply(
            *(() if frame is None else (frame,)),
            origin=self._origin,
            out=out,
            velocities=velocities,
            transform=self._to_object(matrix),
        )

    def _to_object(self, matrix):
        """Computed again only if the matrix differs in any bit, so that a resumed bake, which does
        not know earlier matrices, gives the same bits."""
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
