# SPDX-License-Identifier: GPL-3.0-or-later
"""A hash of a body's input mesh, to tell whether it was edited since a bake."""

import hashlib

import numpy as np

from .. import meshes, modifiers
from ..results import shapekeys

_SIMPLE = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}


def own_mesh(obj):
    """The user's own mesh, whatever a result shows."""
    return obj.pliant.result.mesh or obj.data


def mark(obj, known=None):
    """A hash of a body's own mesh and of the modifiers before the result. known: {name of a mesh:
    its hash} of unchanged meshes."""
    mesh, known = own_mesh(obj), {} if known is None else known
    if mesh.name_full not in known:
        known[mesh.name_full] = _hash(mesh)
    digest = hashlib.blake2b(known[mesh.name_full].encode(), digest_size=16)
    is_animated = obj.animation_data is not None
    for modifier in list(obj.modifiers)[: modifiers.split(obj)]:
        was = obj.pliant.result.switched.get(modifier.name, modifier)  # a result may have switched it off
        digest.update(f"{modifier.type}{was.show_viewport}".encode())
        if not is_animated:
            digest.update(repr(_simple(modifier)).encode())
    return digest.hexdigest()


def _hash(mesh):
    digest = hashlib.blake2b(meshes.topology(mesh).encode(), digest_size=16)
    digest.update(meshes.positions(mesh).tobytes())
    for name in shapekeys.own_keys(mesh):
        key = mesh.shape_keys.key_blocks[name]
        points = np.empty(3 * len(key.data), np.float32)
        key.data.foreach_get("co", points)
        digest.update(points.tobytes())
    return digest.hexdigest()


def _simple(modifier):
    """Values of a modifier, without its display properties."""
    return [
        (p.identifier, tuple(found) if getattr(p, "is_array", False) else found)
        for p in modifier.bl_rna.properties
        if p.type in _SIMPLE
        and not p.is_readonly
        and not p.is_runtime
        and not p.identifier.startswith(("show_", "is_", "use_pin", "ui_"))
        and p.identifier != "execution_time"
        for found in [getattr(modifier, p.identifier)]
    ]
