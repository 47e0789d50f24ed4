# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that are felt as they are: an object's evaluated mesh, frame by frame.

The faces are read once and must stay; the vertices may go anywhere, by the object's transform, a
rig, shape keys or any other deformation.
"""
from contextlib import contextmanager

import numpy as np

from ..bake import space
from ..bake.shot import ColliderMeshFrame
from ..solver import Shape
from . import colliders, meshes


class Unusable(Exception):
    """The end of a sentence about the object: "has no faces"."""


@contextmanager
def mesh_of(evaluated):
    """The mesh of an evaluated object of any kind that has one."""
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


def is_closed(triangles):
    """Whether every edge has a triangle on either side."""
    edges = np.concatenate([triangles[:, (0, 1)], triangles[:, (1, 2)], triangles[:, (2, 0)]])
    edges = np.sort(edges.astype(np.uint64), axis=1)
    _, counts = np.unique(edges[:, 0] << np.uint64(32) | edges[:, 1], return_counts=True)
    return bool((counts == 2).all())


def faces(evaluated):
    """The triangles of an object's mesh, and a hash of its faces."""
    with mesh_of(evaluated) as mesh:
        if not len(mesh.polygons):
            raise Unusable("has no faces for bodies to bounce off")
        return meshes.triangles(mesh), meshes.topology(mesh)


def shape_of(wanted, triangles, inside_out):
    """MESH or SHELL. What is open, or what bodies are to stay inside of, has two sides."""
    if wanted == "SHELL" or inside_out:
        return Shape.SHELL
    return Shape.MESH if wanted == "MESH" or is_closed(triangles) else Shape.SHELL


def vertices(evaluated, topology):
    """Object-local vertices; Unusable if the faces are not what they were."""
    with mesh_of(evaluated) as mesh:
        if meshes.topology(mesh) != topology:
            raise Unusable("has other faces than at the first frame: only its vertices may move. "
                           "Apply or animate away the modifier that changes them, or choose a "
                           "simple shape")
        found = meshes.positions(mesh)
    if not np.isfinite(found).all():
        raise Unusable("has vertices that are no numbers (NaN)")
    return found


def placed(local, matrix, origin, surface):
    runs, parts = surface["runs"], colliders.decompose(matrix)
    if runs is not None and parts is not None:
        runs = colliders.running(runs, parts[1], parts[0])
    return ColliderMeshFrame(space.to_simulation(local, matrix, origin),
                             **dict(surface, runs=runs if parts is not None else None))
