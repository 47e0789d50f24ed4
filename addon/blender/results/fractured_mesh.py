# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that are cut along the cracks of a bake: conversion of Blender's mesh with all its data to
the arrays that are cut (addon/fracture), and back.

Further attributes of the mesh with cracks, for shaders and nodes:
    piece    of points: the fragment in the last frame, by its number in the bake
    birth    of points: the frame at which their crack opens; NEVER: on no crack
    stretch  of points: the largest stretch of the material there; 1 is at rest. Per frame if that
             is asked for (attributes.py)
    inside   of faces: whether it is a crack face
"""

import bpy
import numpy as np

from ...bake import transforms
from ...bake.fractured_output import FracturedOutput
from ...fracture import Look, Surface
from .. import meshes

NEVER = 1e6
GROUPS, NORMALS = ".groups", ".normals"
# How attributes are read and written: name of the value property, and its components.
KINDS = {
    "FLOAT": ("value", 1, np.float32),
    "INT": ("value", 1, np.int32),
    "BOOLEAN": ("value", 1, bool),
    "INT8": ("value", 1, np.int32),
    "FLOAT2": ("vector", 2, np.float32),
    "FLOAT_VECTOR": ("vector", 3, np.float32),
    "FLOAT_COLOR": ("color", 4, np.float32),
    "BYTE_COLOR": ("color", 4, np.float32),
}
# derived from others, or read separately
APART = {"position", "material_index", "custom_normal", "sharp_edge", "crease_edge"}


def look_of(obj, slot, uv_layers):
    """The fracture.Look of an object's settings."""
    own = obj.pliant.fracture
    return Look(
        detail=own.detail,
        smoothing=own.smoothing,
        roughness=own.roughness,
        grain=own.grain,
        inside_material=slot,
        inside_uv_scale=own.uv_scale,
        uv_layers=tuple(uv_layers),
    )


def output(scene, obj, mesh, plain):
    """A FracturedOutput of an object's whole mesh; plain: the Output that it would have otherwise."""
    return FracturedOutput(**inputs(scene, obj, mesh, plain))


def inputs(scene, obj, mesh, plain):
    """The arguments of that FracturedOutput, without Blender data."""
    body = scene.objects.get(plain.body.name) or obj
    matrix = plain.matrix(plain.first)
    surface = read(mesh, matrix)
    slot = interior_slot(mesh, body.pliant.fracture.interior)[0]
    look = look_of(body, slot, [layer.name for layer in mesh.uv_layers])
    other = {} if plain.own else {"name": plain.name, "rest": plain._rest, "matrices": plain._matrices}
    return {
        "cache": plain.cache,
        "body": plain.body,
        "surface": surface,
        "look": look,
        "opening": body.pliant.fracture.opening,
        "partial": body.pliant.fracture.use_partial,
        **other,
    }


def interior_slot(mesh, interior):
    """Material slot of crack faces, and the mesh's materials including it."""
    slots = list(mesh.materials)
    if interior is None:
        index = np.zeros(len(mesh.polygons), np.int32)
        mesh.polygons.foreach_get("material_index", index)
        return int(np.bincount(index).argmax()) if len(index) else 0, slots
    if interior not in slots:
        slots = (slots or [None]) + [interior]
    return slots.index(interior), slots


# ---------------------------------------------------------------- reading


def read(mesh, matrix):
    """A fracture.Surface of a mesh, without vertex positions; matrix: its object's."""
    start = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", start)
    start = np.append(start, len(mesh.loops)).astype(np.int64)
    turn = turned(start, is_turned(mesh, matrix))
    material = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("material_index", material)
    surface = Surface(
        meshes.positions(mesh).astype(np.float64), start, meshes._corners(mesh)[turn].astype(np.int64), material
    )
    corners, surface.triangle_face = drawn_triangles(mesh)
    surface.triangles = turn[corners] if turn[0] == 0 else turn[corners][:, ::-1]
    for name, domain, kind in carried(mesh):
        values = values_of(mesh.attributes[name], kind)
        if domain == "CORNER":
            surface.corner_layers[name] = values[turn]
        else:
            layers = surface.point_layers if domain == "POINT" else surface.face_layers
            layers[name] = values
    groups = group_count(mesh)
    if groups:
        weights = meshes.group_weights(mesh, range(groups))
        surface.point_layers[GROUPS] = np.column_stack([weights[k] for k in range(groups)])
    if is_smooth(mesh):
        normals = np.empty(3 * len(mesh.loops), np.float32)
        mesh.corner_normals.foreach_get("vector", normals)
        linear = np.linalg.inv(np.asarray(matrix, np.float64)[:3, :3])
        surface.corner_layers[NORMALS] = unit(normals.reshape(-1, 3)[turn] @ linear)
        surface.normals = (NORMALS,)
    return surface


def drawn_triangles(mesh):
    """Corners of the triangles that Blender draws, and the face of each; sorted by face."""
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    face = np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("loops", corners)
    mesh.loop_triangles.foreach_get("polygon_index", face)
    order = np.argsort(face, kind="stable")
    return corners.reshape(-1, 3)[order].astype(np.int64), face[order].astype(np.int64)


def is_turned(mesh, matrix):
    """Whether faces point inward in world space: as modelled, or by a mirroring matrix."""
    return meshes.signed_volume(mesh) * np.linalg.det(np.asarray(matrix, np.float64)[:3, :3]) < 0


def turned(start, turn):
    """The order of the corners that makes faces point outward."""
    order = np.arange(start[-1])
    if not turn:
        return order
    face = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return start[face] + start[face + 1] - 1 - order


def carried(mesh):
    """(name, domain, kind) of the attributes that are transferred."""
    return [
        (a.name, a.domain, a.data_type)
        for a in mesh.attributes
        if a.domain in ("POINT", "CORNER", "FACE")
        and a.data_type in KINDS
        and a.name not in APART
        and not a.name.startswith(".")
    ]


def values_of(attribute, kind):
    field, width, dtype = KINDS[kind]
    values = np.empty(len(attribute.data) * width, dtype)
    attribute.data.foreach_get(field, values)
    return values.reshape(-1, width) if width > 1 else values


def group_count(mesh):
    """Number of vertex groups in use."""
    return 1 + max((entry.group for vertex in mesh.vertices for entry in vertex.groups), default=-1)


def is_smooth(mesh):
    """Whether the mesh has custom normals."""
    if mesh.has_custom_normals:
        return True
    flat = mesh.attributes.get("sharp_face")
    return flat is None or not values_of(flat, "BOOLEAN").all()


def unit(vectors):
    length = np.sqrt((vectors**2).sum(1, keepdims=True))
    return vectors / np.where(length > 0, length, 1)


# ---------------------------------------------------------------- output


def show(obj, output, interior):
    """Gives an object the mesh with cracks, at rest; returns its previous mesh."""
    former, matrix = obj.data, output.matrix(output.first)
    local = transforms.mapped(output.broken.surface.vertices, transforms.to_object(matrix, output.cache.origin))
    made = build(
        f"{former.name} Broken",
        former,
        output.broken,
        local,
        output.stretch(),
        interior,
        is_turned(former, matrix),
        np.asarray(matrix, np.float64)[:3, :3],
    )
    put(made, "piece", "INT", "POINT", output.numbers()[output.broken.piece])
    take_groups(obj, obj, made, output.broken.surface.point_layers.get(GROUPS))
    if any(m.type == "SUBSURF" for m in obj.modifiers):
        crease_rims(made, output.broken.inside)
    return former


def take_groups(source, obj, mesh, weights):
    """Gives an object a mesh, and the current vertex groups of `source`, with those weights."""
    names = [(group.name, group.lock_weight) for group in source.vertex_groups]
    active = source.vertex_groups.active_index
    obj.data = mesh
    for name, lock in names:
        if name not in obj.vertex_groups:
            obj.vertex_groups.new(name=name)
        obj.vertex_groups[name].lock_weight = lock
    if names:
        obj.vertex_groups.active_index = active
    if weights is not None:
        add_weights(obj, weights)


def build(name, former, broken, places, stretch, interior, turn, linear):
    """A new Blender mesh of the cut mesh, or of a part of it. turn: flip faces back as in the
    original mesh; linear: the matrix from the new mesh's directions to world space."""
    surface = broken.surface
    mesh = bpy.data.meshes.new(name)
    for material in interior_slot(former, interior)[1]:
        mesh.materials.append(material)
    turn = turned(surface.face_start, turn)
    fill(mesh, places, surface.face_start, surface.corners[turn])
    mesh.polygons.foreach_set("material_index", surface.material.astype(np.int32))
    for attribute, domain, kind in carried(former):
        layers = {"CORNER": surface.corner_layers, "POINT": surface.point_layers, "FACE": surface.face_layers}[domain]
        values = layers[attribute]
        put(mesh, attribute, kind, domain, values[turn] if domain == "CORNER" else values)
    if "sharp_face" not in former.attributes:
        put(mesh, "sharp_face", "BOOLEAN", "FACE", np.zeros(len(broken.inside), bool))
    choose_layers(former, mesh)
    put(mesh, "birth", "FLOAT", "POINT", np.minimum(broken.birth, NEVER))
    put(mesh, "stretch", "FLOAT", "POINT", stretch)
    put(mesh, "inside", "BOOLEAN", "FACE", broken.inside)
    carry_edges(former, mesh, broken)
    if NORMALS in surface.normals:
        mesh.normals_split_custom_set(unit(surface.corner_layers[NORMALS][turn] @ linear).tolist())
    mesh.update()
    return mesh


def fill(mesh, places, face_start, corners):
    """Vertices and faces of an empty mesh."""
    mesh.vertices.add(len(places))
    mesh.loops.add(len(corners))
    mesh.polygons.add(len(face_start) - 1)
    mesh.vertices.foreach_set("co", np.ascontiguousarray(places, np.float32).reshape(-1))
    mesh.loops.foreach_set("vertex_index", np.ascontiguousarray(corners, np.int32))
    mesh.polygons.foreach_set("loop_start", np.ascontiguousarray(face_start[:-1], np.int32))
    mesh.update(calc_edges=True)


def put(mesh, name, kind, domain, values):
    """Writes an attribute; an existing one of that name is replaced."""
    old = mesh.attributes.get(name)
    if old is not None:
        mesh.attributes.remove(old)
    field, _, dtype = KINDS[kind]
    attribute = mesh.attributes.new(name, kind, domain)
    attribute.data.foreach_set(field, np.ascontiguousarray(values, dtype).reshape(-1))


def choose_layers(former, mesh):
    """Restores the active UV map and colours."""
    if former.uv_layers:
        mesh.uv_layers.active_index = former.uv_layers.active_index
        for old, new in zip(former.uv_layers, mesh.uv_layers):
            new.active_render = old.active_render
    if former.color_attributes:
        mesh.color_attributes.active_color_name = former.color_attributes.active_color_name
        mesh.color_attributes.render_color_index = former.color_attributes.render_color_index


def edges_of(mesh):
    """Vertices of the edges, (n, 2)."""
    flat = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", flat)
    return flat.reshape(-1, 2).astype(np.int64)


def rims(mesh, inside):
    """Which edges are between the outside and a crack."""
    edge = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", edge)
    sizes = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    within = np.repeat(inside, sizes)
    count = len(mesh.edges)
    return (np.bincount(edge[within], minlength=count) > 0) & (np.bincount(edge[~within], minlength=count) > 0)


def carry_edges(former, mesh, broken):
    """Edge attributes on the remains of the old edges; crack rims are sharp."""
    ends = old_edges(former, mesh, broken)
    for attribute in former.attributes:
        kind = attribute.data_type
        if (
            attribute.domain != "EDGE"
            or kind not in KINDS
            or attribute.name.startswith(".")
            and attribute.name != ".uv_seam"
        ):
            continue
        values = values_of(attribute, kind)
        if not values.any():
            continue
        new = np.zeros((len(ends), *values.shape[1:]), values.dtype)
        new[ends >= 0] = values[ends[ends >= 0]]
        if attribute.name != "sharp_edge":
            put_edge(mesh, attribute.name, kind, new)
        else:
            put_edge(mesh, "sharp_edge", kind, new | rims(mesh, broken.inside))
    if "sharp_edge" not in mesh.attributes and broken.inside.any():
        put_edge(mesh, "sharp_edge", "BOOLEAN", rims(mesh, broken.inside))


def put_edge(mesh, name, kind, values):
    if name in ("uv_seam", ".uv_seam"):
        mesh.edges.foreach_set("use_seam", values)
    else:
        put(mesh, name, kind, "EDGE", values)


def old_edges(former, mesh, broken):
    """For each edge the old edge that it is a part of; -1: none."""
    count = len(former.vertices)
    old = np.sort(edges_of(former), 1)
    key = old[:, 0] * count + old[:, 1]
    order = np.argsort(key, kind="stable")
    ends = edges_of(mesh)
    source, between = broken.source_vertex[ends], np.sort(broken.source_edge[ends], 2)
    wanted = np.full(len(ends), -1)
    both = (source >= 0).all(1)
    pair = np.sort(source[both], 1)
    wanted[both] = pair[:, 0] * count + pair[:, 1]
    for a, b in ((0, 1), (1, 0)):
        # one end within an old edge, the other at its end or within it too
        low, high = between[:, a, 0], between[:, a, 1]
        other = (
            (source[:, b] == low)
            | (source[:, b] == high)
            | ((between[:, b] == between[:, a]).all(1) & (source[:, b] < 0))
        )
        part = (low >= 0) & (source[:, a] < 0) & other
        wanted[part] = low[part] * count + high[part]
    at = np.minimum(np.searchsorted(key[order], wanted), max(len(key) - 1, 0))
    return np.where((wanted >= 0) & (key[order][at] == wanted), order[at], -1) if len(key) else wanted


def crease_rims(mesh, inside):
    """Creases that keep the shape of fragments under a Subdivision modifier."""
    crease = mesh.attributes.get("crease_edge")
    values = values_of(crease, "FLOAT") if crease else np.zeros(len(mesh.edges), np.float32)
    put(mesh, "crease_edge", "FLOAT", "EDGE", np.where(rims(mesh, inside), 1, values))


def add_weights(obj, weights):
    """Writes weights (vertices, groups) to an object with empty groups, equal weights at once."""
    for index in range(min(weights.shape[1], len(obj.vertex_groups))):
        group, column = obj.vertex_groups[index], weights[:, index]
        used = np.flatnonzero(column > 0)
        order = used[np.argsort(column[used], kind="stable")]
        values = column[order]
        bounds = np.flatnonzero(np.r_[True, values[1:] != values[:-1], True]) if len(values) else [0]
        for begin, end in zip(bounds[:-1], bounds[1:]):
            group.add(order[begin:end].tolist(), float(values[begin]), "REPLACE")
