# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads colliders: their shape once, where they stand at each frame."""

import numpy as np

from ...bake.shot import Collider
from ...solver import Shape
from .. import meshes
from . import collider_meshes, colliders
from .reading import check_positions
from .refusals import CaptureError

MESH_SHAPES = {"MESH", "SHELL"}  # colliders that use the object's mesh


class ColliderReader:
    def __init__(self, reading):
        self.reading = reading
        self._guesses = {}
        self._topologies = {}  # faces of mesh colliders

    # ------------------------------------------------------------ at the first frame

    def collider(self, obj, graph, room):
        evaluated, own = obj.evaluated_get(graph), obj.pliant.collider
        if own.shape in MESH_SHAPES or own.shape == "AUTO" and collider_meshes.shows_collection(obj):
            return self._mesh_collider(obj, graph, own)
        if own.shape != "AUTO":
            guess = colliders.Guess(Shape[own.shape], 2)
        else:
            guess = self._guess(obj, evaluated, room)
            if guess.error > colliders.UNLIKE:
                return self._mesh_collider(obj, graph, own)
        inside_out = own.inside_out
        if inside_out and guess.shape == Shape.PLANE:
            self.reading.warn(f"The collider '{obj.name}' is a plane, which cannot be a container.")
            inside_out = False
        self._guesses[obj.name] = guess
        return Collider(obj.name, guess.shape, inside_out)

    def _mesh_collider(self, obj, graph, own):
        if obj.type == "EMPTY" and not collider_meshes.shows_collection(obj):
            raise CaptureError(
                f"The collider '{obj.name}' is an empty, which has no mesh: choose a simple shape.", obj.name
            )
        try:
            triangles, self._topologies[obj.name] = collider_meshes.faces(obj.evaluated_get(graph), graph)
        except collider_meshes.Unusable as error:
            raise CaptureError(f"The collider '{obj.name}' {error}.", obj.name) from error
        shape = collider_meshes.shape_of(own.shape, triangles, own.inside_out)
        if shape == Shape.MESH and not collider_meshes.is_closed(triangles):
            self.reading.warn(
                f"The collider '{obj.name}' is solid but not closed: what is inside is "
                f"guessed at its holes. A Thin Shell needs no inside."
            )
        return Collider(obj.name, shape, triangles=triangles)

    def _guess(self, obj, evaluated, room):
        if obj.type == "EMPTY":
            return colliders.Guess(Shape.SPHERE if obj.empty_display_type == "SPHERE" else Shape.BOX, 2)
        parts = colliders.decompose(np.array(evaluated.matrix_world))
        mesh = evaluated.to_mesh()
        try:
            if mesh is None or not len(mesh.vertices):
                raise CaptureError(f"The collider '{obj.name}' has no vertices.", obj.name)
            points = meshes.positions(mesh).astype(np.float64)
            if not np.isfinite(points).all():
                raise CaptureError(f"The collider '{obj.name}' has vertices that are no numbers (NaN).", obj.name)
            scale = parts[2] if parts else np.ones(3)
            return colliders.guess(points * scale, meshes.triangles(mesh), room)
        finally:
            evaluated.to_mesh_clear()

    # ------------------------------------------------------------ at each frame

    def frame(self, obj, graph, number):
        evaluated = obj.evaluated_get(graph)
        own = self.reading.view.settings(obj, graph).collider
        if obj.name in self._topologies:
            return self._mesh_frame(obj, graph, own, number)
        if obj.type == "EMPTY":
            size = obj.empty_display_size
            corners = ((-size,) * 3, (size,) * 3)
        else:
            corners = tuple(map(tuple, evaluated.bound_box))
        matrix = np.array(evaluated.matrix_world)
        surface = _surface(own)
        return self.reading.derived(
            ("collider", obj.name),
            (corners, matrix.tobytes(), surface),
            lambda: self._placed(obj, corners, matrix, surface, number),
        )

    def _mesh_frame(self, obj, graph, own, number):
        evaluated = obj.evaluated_get(graph)
        matrix, surface = np.array(evaluated.matrix_world, np.float64), _surface(own)
        try:
            local = self._collider_vertices(obj, evaluated, graph)
        except collider_meshes.Unusable as error:
            raise CaptureError(f"The collider '{obj.name}' {error} (frame {number}).", obj.name) from error
        if not np.isfinite(matrix).all():
            raise CaptureError(f"The collider '{obj.name}' has no place at frame {number}.", obj.name)
        read = id(local), matrix.tobytes(), surface  # kept alive, so that ids are unique

        def place():
            check_positions(obj, local, matrix)
            return collider_meshes.placed(local, matrix, self.reading.shot.origin, surface)

        return self.reading.derived(("collider", obj.name), read, place)

    def _collider_vertices(self, obj, evaluated, graph):
        """The array of the frame before, if its inputs are unchanged."""
        key = ("vertices", obj.name)
        is_as_before = (
            self.reading.evaluated is not None and obj.name not in self.reading.evaluated and obj.type != "EMPTY"
        )  # which shows others
        if is_as_before and key in self.reading.kept:
            return self.reading.kept[key][1]
        local = collider_meshes.vertices(evaluated, graph, self._topologies[obj.name])
        return self.reading.derived(key, local.tobytes(), lambda: local)

    def _placed(self, obj, corners, matrix, surface, number):
        corners = np.array(corners, np.float64)
        state, off = colliders.place(
            self._guesses[obj.name], corners.min(axis=0), corners.max(axis=0), matrix, **surface
        )
        if state is None:
            raise CaptureError(f"The collider '{obj.name}' has zero scale or no place at frame {number}.", obj.name)
        if off > colliders.ROUND:
            self.reading.warn(
                f"The collider '{obj.name}' is stretched or sheared in a way that a "
                f"{self._guesses[obj.name].shape.name.lower()} cannot be: bodies feel an "
                f"even one."
            )
        return state


def _surface(own):
    runs = None
    if own.use_running:
        runs = tuple(own.surface_velocity), tuple(own.surface_spin)
    return {"friction": own.friction, "restitution": own.restitution, "thickness": own.thickness, "runs": runs}
