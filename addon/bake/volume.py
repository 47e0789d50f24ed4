# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Volume for meshes that have none. It is on for most materials, and a mesh may be opened later:
a body whose volume the library cannot keep is simulated without, and a sentence says so."""
from ..solver import PliantError, Status


def without(material):
    return dict(material, pressure=0.0)


def _concerns(error, material):
    return error.status == Status.ERROR_MESH and material.get("pressure", 0.0) > 0


def add_body(scene, vertices, triangles, material, **settings):
    """Scene.add_body; the body, and why it keeps no volume though it should, or None."""
    try:
        return scene.add_body(vertices, triangles, material=material, **settings), None
    except PliantError as error:
        if not _concerns(error, material):
            raise
        made = scene.add_body(vertices, triangles, material=without(material), **settings)
        return made, str(error)


def set_material(body, material):
    """Body.set_material; why it keeps no volume though it should, or None."""
    try:
        body.set_material(**material)
    except PliantError as error:
        if not _concerns(error, material):
            raise
        body.set_material(**without(material))
        return str(error)
    return None
