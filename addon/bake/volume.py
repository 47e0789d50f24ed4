# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Volume for meshes that enclose none. It is on for most materials, and a mesh may be opened
later: a body whose volume the library cannot keep is simulated without it, with a warning."""

from ..solver import PliantError, Status


def settle(shot):
    """Switches Keep Volume off in all frames for a body that breaks or is resampled in any: the
    library refuses to change it during a bake. Adds a warning if that changes anything."""
    for index, body in enumerate(shot.bodies):
        states = [frame.bodies[index] for frame in shot.frames]
        leaks = any(state.fracture is not None or state.material.get("resample") for state in states)
        if not leaks or not any(state.material.get("pressure", 0.0) > 0 for state in states):
            continue
        made = {}  # one dict for states that share one
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
    """Scene.add_body; returns the body, and the reason if its volume cannot be kept, or None."""
    try:
        return scene.add_body(vertices, triangles, material=material, **settings), None
    except PliantError as error:
        if not _concerns(error, material):
            raise
        made = scene.add_body(vertices, triangles, material=without(material), **settings)
        return made, str(error)


def set_material(body, material):
    """Body.set_material; returns the reason if the volume cannot be kept, or None."""
    try:
        body.set_material(**material)
    except PliantError as error:
        if not _concerns(error, material):
            raise
        body.set_material(**without(material))
        return str(error)
    return None
