# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads soft bodies: mesh, painted weights, weak places and pattern once, the rest at each frame."""

import numpy as np

from ...bake import transforms
from ...bake.shot import Body, BodyFrame, Weak
from .. import meshes, settings
from . import edge_marks, mesh_hash
from .reading import check_positions
from .refusals import CaptureError


class BodyReader:
    def __init__(self, reading):
        self.reading = reading

    # ------------------------------------------------------------ at the first frame

    def body(self, obj, graph):
        evaluated = obj.evaluated_get(graph)
        mesh = self.reading.view.mesh(obj, evaluated)
        self.reading.view.check_same_vertices(obj, mesh)
        matrix = self._matrix(obj, evaluated, self.reading.start)
        local = meshes.positions(mesh)
        check_positions(obj, local, matrix)
        faces = meshes.triangles(mesh)
        if np.linalg.det(matrix[:3, :3]) < 0:  # mirrored: keep the orientation of faces
            faces = np.ascontiguousarray(faces[:, ::-1])
        own = obj.pliant
        body = Body(
            obj.name,
            transforms.to_simulation(local, matrix, self.reading.shot.origin),
            faces,
            settings.body(own, 1.0 if self.reading.quick is None else self.reading.quick),
            topology=meshes.topology(mesh_hash.own_mesh(obj)),
            source=self.reading.view.mark(obj),
        )
        self._painted(obj, mesh, own, body)
        if own.fracture.use_fracture:
            self._weak(obj, mesh, own.fracture, body)
            self._pattern(obj, own.fracture, body, graph)
        if own.start.use_follow and own.start.release_frame > self.reading.start:
            body.follow_until = own.start.release_frame
        body.presettle = settings.presettles(own)
        return body

    def _painted(self, obj, mesh, own, body):
        """Factors and pins from vertex groups."""
        wanted = {what: getattr(own.paint, f"{what}_group") for what in settings.PAINTED}
        if own.start.use_pins:
            if not own.start.pin_group:
                raise CaptureError(f"'{obj.name}' is to be pinned: choose the vertex group that is held.", obj.name)
            wanted["pin"] = own.start.pin_group
        indices = {}
        for what, name in wanted.items():
            if name:
                group = obj.vertex_groups.get(name)
                if group is None:
                    raise CaptureError(
                        f"'{obj.name}' has no vertex group '{name}' ({what.replace('_', ' ')}).", obj.name
                    )
                indices[what] = group.index
        weights = meshes.group_weights(mesh, set(indices.values()))
        for what, index in indices.items():
            if what == "pin":
                body.pins = weights[index]
                body.pin_exact = own.start.pin_mode == "EXACT"
                body.pin_frequency = own.start.pin_frequency
                if not body.pins.any():
                    self.reading.warn(
                        f"No vertex of '{obj.name}' is in its pin group '{wanted[what]}': nothing is held."
                    )
            else:
                zero = getattr(own.paint, f"{what}_zero")
                one = getattr(own.paint, f"{what}_one")
                body.factors[f"{what}_factor"] = (zero + (one - zero) * weights[index]).astype(np.float32)

    def _weak(self, obj, mesh, own, body):
        """Marked edges and the weak group."""
        edges, group = np.empty((0, 2), np.int32), None
        if own.seam_edges != "NONE":
            try:
                edges = edge_marks.marked(mesh, own.seam_edges, own.seam_attribute)
            except edge_marks.NoMarks as error:
                raise CaptureError(f"'{obj.name}' {error}.", obj.name) from None
            if not len(edges):
                self.reading.warn(f"No edge of '{obj.name}' is marked to be weak.")
        if own.seam_group:
            found = obj.vertex_groups.get(own.seam_group)
            if found is None:
                raise CaptureError(f"'{obj.name}' has no vertex group '{own.seam_group}' (weak).", obj.name)
            group = meshes.group_weights(mesh, {found.index})[found.index]
        if len(edges) or group is not None:
            body.weak = Weak(own.seam_toughness, own.seam_width, edges, group)

    def _pattern(self, obj, own, body, graph):
        """The Voronoi cells that it breaks along."""
        body.pattern = settings.pattern(own)
        if body.pattern is None or own.cells_from != "OBJECT":
            return
        if (problem := settings.pattern_problem(obj)) is not None:
            raise CaptureError(f"'{obj.name}' {problem}.", obj.name)
        other = own.cells_object.evaluated_get(graph)
        local, matrix = meshes.positions(other.data), np.array(other.matrix_world, np.float64)
        check_positions(own.cells_object, local, matrix)
        body.pattern.points = transforms.to_simulation(local, matrix, self.reading.shot.origin)

    # ------------------------------------------------------------ at each frame

    def frame(self, body, obj, graph, number):
        evaluated = obj.evaluated_get(graph)
        matrix = self._matrix(obj, evaluated, number)
        follows = body.follow_until is not None and number <= body.follow_until
        vertices = None
        if (follows or body.pins is not None) and number > self.reading.start:
            vertices = self._pinned_vertices(obj, evaluated, matrix)
        own = self.reading.view.settings(obj, graph)
        if (refusal := settings.plastic_refusal(own)) is not None:
            raise CaptureError(f"'{obj.name}' is plastic, but {refusal}.", obj.name)
        if (refusal := settings.fracture_refusal(own)) is not None:
            raise CaptureError(f"'{obj.name}' is to break, but {refusal}.", obj.name)
        breaks = settings.fracture(own.fracture, self.reading.start, self.reading.shot.fps)
        material = self.reading.same(
            ("material", body.name), settings.material(own.material, breaks is not None, self.reading.metre)
        )
        return BodyFrame(
            matrix,
            material,
            vertices,
            self.reading.same(("pins", body.name), own.start.pin_strength),
            surface=self.reading.same(("surface", body.name), settings.body_surface(own.contacts)),
            fracture=self.reading.same(("fracture", body.name), breaks),
        )

    def _pinned_vertices(self, obj, evaluated, matrix):
        """The array of the frame before, if its inputs are unchanged."""
        key = ("pinned", obj.name)
        known = self.reading.kept.get(key)
        if (
            known is not None
            and known[0] is matrix
            and self.reading.evaluated is not None
            and obj.name not in self.reading.evaluated
        ):
            return known[1]
        self.reading.view.check_same_vertices(obj, evaluated.data)
        local = meshes.positions(evaluated.data)
        check_positions(obj, local, matrix)
        self.reading.kept[key] = matrix, transforms.to_simulation(local, matrix, self.reading.shot.origin)
        return self.reading.kept[key][1]

    def _matrix(self, obj, evaluated, number):
        matrix = np.array(evaluated.matrix_world, np.float64)
        return self.reading.derived(("matrix", obj.name), matrix.tobytes(), lambda: self._checked(obj, matrix, number))

    def _checked(self, obj, matrix, number):
        if not np.isfinite(matrix).all():
            raise CaptureError(f"'{obj.name}' has no place at frame {number}: its transform is not a number.", obj.name)
        sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
        if sizes[-1] < 1e-6 * sizes[0] or sizes[0] < 1e-12:
            raise CaptureError(f"'{obj.name}' has zero scale at frame {number}.", obj.name)
        return matrix
