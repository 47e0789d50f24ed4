# SPDX-License-Identifier: GPL-3.0-or-later
"""Transfers the old mesh's data to the new one: materials, UVs, normals, vertex groups, attributes.

On the outside, values of the old corners and vertices are interpolated with barycentric
coordinates. On crack faces, UVs are projected along the axis that a face is most aligned with,
normals are the faces' own, and all other values spread inward from the outside.
"""

import numpy as np

from . import graph
from .datatypes import Surface


EDGE = 1e-7  # a barycentric coordinate below this is on the edge


class Part:
    """Faces of the outside, or of the cracks: whole ones, then triangles of cut ones."""

    def __init__(self, faces, sizes, corners, cut, pieces):
        self.faces, self.cut = faces, cut
        self.corners = np.concatenate([corners, pieces.triangles[cut].ravel()])
        self.sizes = np.concatenate([sizes, np.full(len(cut), 3)])
        self.face = np.repeat(np.arange(len(self.sizes)), self.sizes)

    def normals(self, vertices):
        """Of each face, as long as twice its area (Newell's sums)."""
        end = np.cumsum(self.sizes)
        following = np.arange(len(self.corners)) + 1
        following[end - 1] = end - self.sizes
        here = vertices[self.corners]
        middle = here[end - self.sizes][self.face]  # relative to the middle: less cancellation
        product = np.cross(here - middle, vertices[self.corners[following]] - middle)
        return np.column_stack([np.bincount(self.face, product[:, k], len(self.sizes)) for k in range(3)])


def barycentric(surface, split, pieces, triangles):
    """Weights (t, corner, 3) of the old triangle's corners at the corners of the new ones."""
    ends = surface.vertices[surface.corners[split.corner[pieces.source[triangles]]]]
    point = pieces.vertices[pieces.triangles[triangles]]
    a, b, c = (ends[:, k, None] for k in range(3))
    normal = np.cross(b - a, c - a)
    area = (normal**2).sum(2)
    flat = ~(area[:, 0] > 0)
    w = np.stack(
        [
            (np.cross(c - b, point - b) * normal).sum(2),
            (np.cross(a - c, point - c) * normal).sum(2),
            (np.cross(b - a, point - a) * normal).sum(2),
        ],
        2,
    )
    w = np.clip(w / np.where(flat[:, None], 1, area)[:, :, None], 0, 1)
    w[flat] = 1 / 3
    w /= w.sum(2, keepdims=True)
    # an old corner keeps its values exactly
    w[w > 1 - 1e-9] = 1
    w[(w == 1).any(2, keepdims=True) & (w < 1)] = 0
    return w


class Layers:
    def __init__(self, surface, split, pieces, origin, look):
        self.old, self.split, self.pieces, self.origin, self.look = surface, split, pieces, origin, look
        self.edges = graph.unique_edges(pieces.triangles)

    def surface(self, outer, inner):
        """The new Surface with all its layers; outer and inner are its Parts."""
        old = self.old
        face = np.concatenate([outer.faces, self.split.face[self.pieces.source[outer.cut]]])
        slot = self.look.inside_material
        slot = int(old.material.max(initial=-1)) + 1 if slot is None else slot
        sizes = np.concatenate([outer.sizes, inner.sizes])
        result = Surface(
            self.pieces.vertices,
            np.r_[0, np.cumsum(sizes)],
            np.concatenate([outer.corners, inner.corners]),
            np.concatenate([old.material[face], np.full(len(inner.sizes), slot)]),
            normals=old.normals,
        )
        for name, values in old.face_layers.items():
            values = np.asarray(values)
            made = np.zeros((len(inner.sizes), *values.shape[1:]), values.dtype)
            result.face_layers[name] = np.concatenate([values[face], made])
        weights = barycentric(old, self.split, self.pieces, outer.cut)
        kept = np.zeros(len(old.face_start) - 1, bool)
        kept[outer.faces] = True
        kept = np.repeat(kept, np.diff(old.face_start))
        source = self.split.corner[self.pieces.source[outer.cut]]
        for name, layer in old.corner_layers.items():
            values = as_rows(layer)
            outside = np.concatenate([values[kept], mix(weights, values[source])])
            made = self.inner_corners(name, outside, outer, inner)
            result.corner_layers[name] = self.like(layer, name, np.concatenate([outside, made]))
        for name, layer in old.point_layers.items():
            values = self.points(as_rows(layer), outer.cut, weights, old.corners[source])
            result.point_layers[name] = self.like(layer, name, values)
        return result

    def on_edges(self, cut):
        """For each vertex the two old ones at the ends of its edge, or -1."""
        result = np.full((len(self.pieces.vertices), 2), -1)
        weights = barycentric(self.old, self.split, self.pieces, cut)
        ends = self.old.corners[self.split.corner[self.pieces.source[cut]]]
        at = self.pieces.triangles[cut]
        between = (weights > EDGE).sum(2) == 2
        other = weights.argmin(2)
        for corner in range(3):
            chosen = np.flatnonzero(between[:, corner])
            left = (other[chosen, corner][:, None] + [1, 2]) % 3
            result[at[chosen, corner]] = np.sort(np.take_along_axis(ends[chosen], left, 1), 1)
        result[self.origin >= 0] = -1
        return result

    def points(self, values, cut, weights, ends):
        """Old vertices keep their values, new ones on the outside are interpolated, those inside
        take the values around them."""
        count = len(self.pieces.vertices)
        result, known = np.zeros((count, values.shape[1])), np.zeros(count, bool)
        at = self.pieces.triangles[cut].ravel()
        result[at] = mix(weights, values[ends])
        known[at] = True
        old = self.origin >= 0
        result[old], known[old] = values[self.origin[old]], True
        return graph.spread_values(result, known, self.edges)

    def inner_corners(self, name, outside, outer, inner):
        """A corner layer on crack faces."""
        if name in self.look.uv_layers:
            return self.box(inner)[:, : outside.shape[1]]
        if name in self.old.normals:
            return self.inner_normals(inner)
        count = len(self.pieces.vertices)
        number = np.bincount(outer.corners, minlength=count)
        mean = (
            np.column_stack([np.bincount(outer.corners, outside[:, k], count) for k in range(outside.shape[1])])
            / np.maximum(number, 1)[:, None]
        )
        return graph.spread_values(mean, number > 0, self.edges)[inner.corners]

    def box(self, inner):
        """UVs projected along the axis that faces are most aligned with."""
        axis = np.abs(inner.normals(self.pieces.vertices)).argmax(1)
        plane = np.array([[1, 2], [2, 0], [0, 1]])[axis][inner.face]
        return np.take_along_axis(self.pieces.vertices[inner.corners], plane, 1) * self.look.inside_uv_scale

    def inner_normals(self, inner):
        """Smooth over a sheet, flat at creases."""
        normal = inner.normals(self.pieces.vertices)
        summed = np.column_stack(
            [np.bincount(inner.corners, normal[inner.face, k], len(self.pieces.vertices)) for k in range(3)]
        )
        smooth, flat = unit(summed)[inner.corners], unit(normal)[inner.face]
        return np.where(((smooth * flat).sum(1) > 0.7)[:, None], smooth, flat)

    def like(self, layer, name, values):
        """Values in the format of the old layer: its shape, its type, unit length for normals."""
        layer = np.asarray(layer)
        if name in self.old.normals:
            values = unit(values)
        if layer.dtype == bool:
            values = values > 0.5
        elif np.issubdtype(layer.dtype, np.integer):
            values = np.rint(values)
        return values.reshape(len(values), *layer.shape[1:]).astype(layer.dtype)


def as_rows(layer):
    layer = np.asarray(layer)
    return layer.reshape(len(layer), -1).astype(np.float64)


def mix(weights, values):
    return np.einsum("tck,tkd->tcd", weights, values).reshape(-1, values.shape[2])


def unit(vectors):
    length = np.sqrt((vectors**2).sum(1, keepdims=True))
    return np.where(length > 0, vectors / np.maximum(length, 1e-300), vectors)
