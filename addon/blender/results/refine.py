# SPDX-License-Identifier: GPL-3.0-or-later
"""Divides the faces of a mesh where its bake has stretched them, so that the next bake has faces there.

What is measured are edges in some of the bake's frames, against how long edges were there before.
Places in those frames are layers of a bmesh while it is divided: Blender interpolates them, so that
what was divided once can be measured again.
"""

import bmesh
import numpy as np

from ...bake.errors import BakeError
from . import results

FRAMES = 12  # that are sampled
PLACE, USUAL = "pliant place", "pliant usual length"


def refine(scene, obj, longest=2.0, passes=3, progress=None):
    """Divides edges until none is more than `longest` times as long in any frame as edges there were
    at rest, or that many times; returns how many vertices there are more. The bake no longer fits
    the mesh then: the object is given back as it was before it showed it."""
    results.check_object(obj)
    if results.is_bound(obj) or obj.pliant.result.kind in results.APART:
        raise BakeError(f"'{obj.name}' shows the bake of '{obj.pliant.result.body}': select the body itself.")
    if obj.pliant.result.is_cut:
        raise BakeError(
            f"'{obj.name}' is cut along its cracks, which cannot be divided for another bake: remove the result first."
        )
    output = results.output_of(scene, obj)
    if obj.data.users > 1:
        raise BakeError(f"Other objects use the mesh of '{obj.name}' too: make it a single user first.")
    if obj.data.shape_keys and obj.pliant.result.kind != "SHAPE_KEYS":
        raise BakeError(f"'{obj.name}' has shape keys, which cannot be divided with it: apply them first.")
    chosen = np.unique(np.linspace(0, output.count - 1, FRAMES).round().astype(int))
    places = [np.array(output.rows(progress)[row]) for row in chosen]
    before = len(obj.data.vertices)
    form = bmesh.new()
    try:
        form.from_mesh(obj.data)
        layers, usual = _add_layers(form, places)
        if not _divide(form, layers, usual, longest, passes):
            return 0
        for layer in layers:
            form.verts.layers.float_vector.remove(form.verts.layers.float_vector[layer])
        form.verts.layers.float.remove(form.verts.layers.float[usual])
        results.remove(obj)
        form.to_mesh(obj.data)
    finally:
        form.free()
    obj.data.update()
    return len(obj.data.vertices) - before


def _add_layers(form, places):
    """Names of the layers: where vertices are in each frame, and how long edges are at them."""
    names = [f"{PLACE} {number}" for number in range(len(places))]
    for name in names:  # all before any is used: adding a layer moves the others
        form.verts.layers.float_vector.new(name)
    form.verts.layers.float.new(USUAL)
    form.verts.ensure_lookup_table()
    for name, frame in zip(names, places):
        layer = form.verts.layers.float_vector[name]
        for vertex, place in zip(form.verts, frame.tolist()):
            vertex[layer] = place
    layer = form.verts.layers.float[USUAL]
    for vertex in form.verts:
        lengths = [edge.calc_length() for edge in vertex.link_edges]
        vertex[layer] = sum(lengths) / len(lengths) if lengths else 0.0
    return names, USUAL


def _divide(form, names, usual, longest, passes):
    """Whether anything was divided."""
    divided = False
    for _ in range(passes):
        layers = [form.verts.layers.float_vector[name] for name in names]
        normal = form.verts.layers.float[usual]
        # an edge that is long at rest was not stretched
        long = [
            edge
            for edge in form.edges
            if _length(edge, layers)
            > longest * max(edge.calc_length(), 0.5 * (edge.verts[0][normal] + edge.verts[1][normal]))
        ]
        if not long:
            break
        bmesh.ops.subdivide_edges(form, edges=long, cuts=1, use_grid_fill=True)
        divided = True
    return divided


def _length(edge, layers):
    a, b = edge.verts
    return max((a[layer] - b[layer]).length for layer in layers)
