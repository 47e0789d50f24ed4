# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Volume for meshes that have none. It is on for most materials, and a mesh may be opened later:
a body whose volume the library cannot keep is simulated without, and a sentence says so."""

from ..solver import PliantError, Status


def settle(shot):
    """A body that breaks or is resampled in any frame keeps no volume in all of them: it would leak, and
    the library refuses to go from one to the other. Adds a warning where that changes anything."""
    for index, body in enumerate(shot.bodies):
        states = [frame.bodies[index] for frame in shot.frames]
        leaks = any(state.fracture is not None or state.material.get("resample") for state in states)
        if not leaks or not any(state.material.get("pressure", 0.0) > 0 for state in states):
            continue
        made = {}  # one dict for states that share theirs
        for state in states:
            state.material = made.setdefault(id(state.material), (without(state.material), state.material))[0]
        shot.warnings.append(
            f"'{body.name}' breaks or is resampled in some frames, so it keeps no volume "
            f"in any: switch Keep Volume off, or Fracture and Resample."
        )


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
