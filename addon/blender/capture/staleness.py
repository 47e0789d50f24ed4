# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a bake is out of date, without reading the scene frame by frame.

The scene is read as Blender shows it now, as one frame of a shot: no frame is set, no modifier is
switched and nothing is evaluated for it. Meshes of bodies, which play the bake, are compared by the
hash of their input (mesh_hash.py). Animated values are compared at the current frame only, animated
pin targets not at all: resuming a bake reads everything.
"""

from ...bake.fingerprint import RATE, fingerprint
from .. import meshes, modifiers, settings
from . import mesh_hash, reading
from .capture import capture_all
from .refusals import CaptureError
from .scene_reader import SceneReader


class _AsShown(reading.Evaluated):
    """The view of objects as they are in the scene now, with the user's own mesh."""

    def __init__(self, cache, known):
        self._cache, self._known = cache, known

    def origin(self, scene, graph):
        return self._cache.origin

    def mesh(self, obj, evaluated):
        return mesh_hash.own_mesh(obj)

    def check_same_vertices(self, obj, mesh):
        pass

    def settings(self, obj, graph):
        return obj.pliant  # Blender writes animated values back to the original

    def mark(self, obj):
        return mesh_hash.mark(obj, self._known)


def _glance(scene, cache, known):
    """A Shot with one frame."""
    found = reading.bodies(scene)
    if not found:
        raise CaptureError("There is no soft body in this scene.")
    for obj in found:
        if obj.mode == "EDIT":
            raise CaptureError(f"'{obj.name}' is in edit mode.", obj.name)
    start, end = settings.frame_range(scene)
    reader = SceneReader(reading.Reading(start, None, settings.metres(scene), _AsShown(cache, known)))
    graph = reading.view_layer_of(scene).depsgraph
    shot = reader.begin(scene, graph, end)
    shot.frames = [reader.frame(scene, graph, start)]
    return shot


def outdated(scene, cache, known=None):
    """Sentences on what has changed since a bake, without their full stops; empty: no change found.
    A CaptureError if the scene cannot be baked as it is. known: as in mesh_hash.mark()."""
    shot = _glance(scene, cache, {} if known is None else known)
    now = fingerprint(shot)
    found = []
    unseen = set()
    unweighed = set()  # hashed with vertex groups that modifiers change
    for body in shot.bodies:
        if modifiers.weigh(scene.objects[body.name]):
            unweighed |= {f"the pins of '{body.name}'", f"the particles, clusters or start of '{body.name}'"}
        unseen.add(f"the mesh of '{body.name}'")
        if body.pins is not None or body.follow_until is not None:
            unseen.add(f"the animation of '{body.name}'")
        before = cache.body(body.name)
        if before is not None and (
            before.topology != meshes.topology(_own(scene, body.name)) or before.source and before.source != body.source
        ):
            found.append(f"the mesh of '{body.name}'")
    other = {body.name for body in shot.bodies} ^ {body.name for body in cache.bodies}
    for name, what in cache.fingerprint.glance(now, scene.frame_current):
        # the list of bodies tells about bodies that were added or removed
        if name in unseen or name in unweighed and not what or any(name.endswith(f" '{gone}'") for gone in other):
            continue
        found.append(what if name == RATE and what else f"{name} ({what})" if what else name)
    last = settings.frame_range(scene)[1]
    if last != cache.end:
        found.append(f"the last frame ({cache.end}, now {last})")
    return found


def changed(scene, cache):
    """The same; if nothing is found, every frame is read. The scene must show a bake by point
    caches, or none."""
    found = outdated(scene, cache)
    baked = cache.baked()
    if found or baked is None or any(_is_replaced(obj) for obj in reading.bodies(scene)):
        return found
    shot = capture_all(scene)
    what = cache.fingerprint.difference(fingerprint(shot), min(baked[1], shot.end))
    return [what] if what else []


def _is_replaced(obj):
    """Whether a result has replaced the object's own mesh."""
    result = obj.pliant.result
    return result.mesh is not None or result.fragments is not None


def _own(scene, name):
    return mesh_hash.own_mesh(scene.objects[name])
