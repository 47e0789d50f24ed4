# SPDX-License-Identifier: GPL-3.0-or-later
"""Mesh colliders: an object's evaluated mesh, frame by frame.

The faces are read once and must not change; vertices may move in any way, by the object's
transform, a rig, shape keys or any other deformation.
"""

from contextlib import contextmanager

import numpy as np

from ...bake import transforms
from ...bake.shot import ColliderMeshFrame
from ...solver import Shape
from .. import meshes
from . import colliders

MESHLIKE = {"MESH", "CURVE", "SURFACE", "FONT", "META"}  # object types that have a surface


class Unusable(Exception):
    """The end of a sentence about the object: "has no faces"."""


@contextmanager
def mesh_of(evaluated):
    """The mesh of an evaluated object, for each type that has one."""
    if evaluated.type == "MESH":
        yield evaluated.data
        return
    mesh = evaluated.to_mesh()
    try:
        if mesh is None:
            raise Unusable("has no surface")
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def shows_collection(obj):
    """Whether an object is an empty that shows a collection, as sets and props are often linked."""
    return obj.type == "EMPTY" and obj.instance_type == "COLLECTION" and obj.instance_collection is not None


def parts_of(evaluated, graph):
    """Meshes of an evaluated object, each with the matrix to the object's space, or None: its own
    mesh, or those of its instanced collection. Soft bodies are left out."""
    if not shows_collection(evaluated):
        with mesh_of(evaluated) as mesh:
            yield mesh, None
        return
    try:
        inverse = np.linalg.inv(np.array(evaluated.matrix_world, np.float64))
    except np.linalg.LinAlgError:
        raise Unusable("has zero scale") from None
    for instance in graph.object_instances:
        if not instance.is_instance or instance.parent.original != evaluated.original:
            continue
        shown = instance.object
        if shown.type in MESHLIKE and shown.original.pliant.role != "BODY":
            with mesh_of(shown) as mesh:
                yield mesh, inverse @ np.array(instance.matrix_world, np.float64)


def is_closed(triangles):
    """Whether every edge has a triangle on both sides."""
    edges = np.concatenate([triangles[:, (0, 1)], triangles[:, (1, 2)], triangles[:, (2, 0)]])
    edges = np.sort(edges.astype(np.uint64), axis=1)
    _, counts = np.unique(edges[:, 0] << np.uint64(32) | edges[:, 1], return_counts=True)
    return bool((counts == 2).all())


def faces(evaluated, graph):
    """The triangles of an object's meshes, and a hash of their faces."""
    found, hashes, count = [], [], 0
    for mesh, matrix in parts_of(evaluated, graph):
        made = meshes.triangles(mesh)
        if matrix is not None and np.linalg.det(matrix[:3, :3]) < 0:
            made = made[:, ::-1]  # mirrored: keep the orientation of faces
        found.append(made + np.uint32(count))
        hashes.append(meshes.topology(mesh))
        count += len(mesh.vertices)
    if not sum(map(len, found)):
        raise Unusable("has no faces for bodies to bounce off")
    return np.ascontiguousarray(np.concatenate(found)), " ".join(hashes)


def shape_of(wanted, triangles, inside_out):
    """MESH or SHELL. Open meshes and containers are two-sided."""
    if wanted == "SHELL" or inside_out:
        return Shape.SHELL
    return Shape.MESH if wanted == "MESH" or is_closed(triangles) else Shape.SHELL


def vertices(evaluated, graph, topology):
    """Object-local vertices; Unusable if the faces have changed."""
    found, hashes = [], []
    for mesh, matrix in parts_of(evaluated, graph):
        hashes.append(meshes.topology(mesh))
        places = meshes.positions(mesh)
        if matrix is not None:
            places = (places @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
        found.append(places)
    if " ".join(hashes) != topology:
        raise Unusable(
            "has other faces than at the first frame: only its vertices may move. "
            "Apply or animate away the modifier that changes them, or choose a "
            "simple shape"
        )
    found = found[0] if len(found) == 1 else np.concatenate(found)
    if not np.isfinite(found).all():
        raise Unusable("has vertices that are no numbers (NaN)")
    return found


def placed(local, matrix, origin, surface):
    runs, parts = surface["runs"], colliders.decompose(matrix)
    if runs is not None and parts is not None:
        runs = colliders.running(runs, parts[1], parts[0])
    return ColliderMeshFrame(
        transforms.to_simulation(local, matrix, origin), **dict(surface, runs=runs if parts is not None else None)
    )
