# SPDX-License-Identifier: GPL-3.0-or-later
"""Marked edges as pairs of vertices: where a body is weak."""

import numpy as np

from .. import compat

# what edges may be marked by: name -> (label, description)
EDGE_MARKS = {
    "SEAM": ("Seams", "Edges marked as seams for unwrapping"),
    "SHARP": ("Sharp", "Edges marked as sharp"),
    "CREASE": ("Creases", "Edges that have a crease"),
    "BEVEL": ("Bevel Weights", "Edges that have a bevel weight"),
    "FREESTYLE": ("Freestyle", "Edges marked for Freestyle"),
    "ATTRIBUTE": ("Attribute", "Edges where an attribute of the mesh is on, or more than 0"),
}
_NAMED = {"CREASE": "crease_edge", "BEVEL": "bevel_weight_edge", "FREESTYLE": "freestyle_edge"}


class NoMarks(Exception):
    """The end of a sentence about a mesh: why there are no such edges."""


def ends(mesh):
    """(e, 2) vertices of each edge."""
    found = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", found)
    return found.reshape(-1, 2)


def marked(mesh, kind, attribute=""):
    """(m, 2) vertices of the edges that have a mark."""
    on = np.zeros(len(mesh.edges), bool)
    if kind == "SEAM":
        mesh.edges.foreach_get("use_seam", on)
    elif kind == "SHARP":
        mesh.edges.foreach_get("use_edge_sharp", on)
    elif kind == "FREESTYLE" and compat.has_freestyle_marks(mesh):
        mesh.edges.foreach_get("use_freestyle_mark", on)
    else:
        on = _attribute(mesh, _NAMED.get(kind, attribute), kind == "ATTRIBUTE")
    return ends(mesh)[on]


def check(mesh, name):
    """The attribute of that name; it must mark edges."""
    found = mesh.attributes.get(name)
    if found is None:
        raise NoMarks(f"has no attribute '{name}'" if name else "is to be weak along an attribute: choose it")
    if found.domain != "EDGE" or found.data_type not in ("BOOLEAN", "FLOAT", "INT", "INT8"):
        raise NoMarks(f"has the attribute '{name}', which is no number or switch of edges")
    return found


def _attribute(mesh, name, is_chosen):
    if not is_chosen and name not in mesh.attributes:
        return np.zeros(len(mesh.edges), bool)
    found = check(mesh, name)
    kinds = {"BOOLEAN": bool, "FLOAT": np.float32}
    values = np.empty(len(mesh.edges), kinds.get(found.data_type, np.int32))
    found.data.foreach_get("value", values)
    return values > 0
