# SPDX-License-Identifier: GPL-3.0-or-later
"""Input of the preview: the scene's soft bodies in their current state."""

import hashlib
import time

import numpy as np

from ..bake import volume
from ..bake.cutting import CUT_SECONDS
from ..blender import meshes, modifiers, settings
from ..blender.capture import capture
from ..blender.results import results
from . import trial
from .build import Request, Source

READ_SECONDS, SOME_FRAMES = 0.3, 12  # of reading the first frames, and at least so many ...
MOST_READ_SECONDS, MOST_FRAMES = 2.0, 96  # ... unless it takes longer
MOST_FACES = 3_000_000  # above this reading the mesh would block the window


def bodies(scene):
    """The soft bodies of a scene that can be shown, and sentences on those that cannot."""
    found, refused = [], {}
    for obj in scene.objects:
        if obj.type != "MESH" or obj.pliant.role != "BODY":
            continue
        if obj.mode == "EDIT":
            refused[obj.name] = f'"{obj.name}" is shown when you leave Edit Mode'
        elif not obj.data.polygons:
            refused[obj.name] = f'"{obj.name}" has no faces to fill with particles'
        elif len(obj.data.polygons) > MOST_FACES:
            refused[obj.name] = f'"{obj.name}" has {len(obj.data.polygons):,} faces: more than the preview takes'
        else:
            found.append(obj)
    return found, refused


def request(scene, depsgraph=None):
    """The Request for a scene, and sentences on bodies that are left out."""
    objects, refused = bodies(scene)
    origin = tuple(objects[0].matrix_world.translation) if objects else (0.0, 0.0, 0.0)
    sources = []
    for obj in objects:
        vertices, triangles, topology = mesh_arrays(obj, depsgraph)
        if not np.isfinite(vertices).all():
            bad = int(np.argmin(np.isfinite(vertices).all(axis=1)))
            refused[obj.name] = f'"{obj.name}": vertex {bad} is not a number'
            continue
        world = np.array(obj.matrix_world, dtype=np.float64)
        world[:3, 3] -= origin
        placed = (vertices @ world[:3, :3].T + world[:3, 3]).astype(np.float32)
        own = obj.pliant
        made = {
            **settings.body(own),
            "material": settings.material(own.material, own.fracture.use_fracture, settings.metres(scene)),
        }
        pattern, problem = pattern_of(obj, origin, depsgraph)
        if problem:
            refused[obj.name] = problem
        sources.append(
            Source(
                obj.name,
                placed,
                triangles,
                made,
                np.array(obj.matrix_world, dtype=np.float64),
                source_key(obj.name, vertices, topology, world, made, pattern),
                pattern,
            )
        )
    start, end = settings.frame_range(scene)
    return Request(
        sources,
        origin=origin,
        level=scene.pliant.preview_level,
        fps=settings.frame_rate(scene),
        frames=max(1, end - start + 1),
        gravity=settings.gravity(scene),
        proxies=scene.pliant.preview_proxies,
        cells=scene.pliant.preview_colour_by == "CELLS",
        **settings.shot_settings(scene),
    ), refused


def sample(scene):
    """The first frames of a scene as a trial.Sample, or None if it cannot be baked as it is.
    Changes the current frame meanwhile."""
    if any(
        obj.pliant.result.mesh is not None or obj.pliant.result.fragments is not None for obj in capture.bodies(scene)
    ):
        return None  # a result has replaced its mesh
    times = [time.perf_counter()]
    try:
        capturing = capture.Capture(scene)
    except capture.CaptureError:
        return None
    try:
        for _ in capturing:
            times.append(time.perf_counter())
            spent = times[-1] - times[0]
            if (
                capturing.done >= MOST_FRAMES
                or spent > MOST_READ_SECONDS
                or spent > READ_SECONDS
                and capturing.done >= SOME_FRAMES
            ):
                break
    except capture.CaptureError:
        return None
    finally:
        capturing.release()
    shot = capturing.shot
    took = np.diff(times)
    first, reading = float(took[0]), float(np.median(took[1:] if len(took) > 1 else took))
    if len(shot.frames) < capturing.count:
        shot.end = shot.frames[-1].number
        volume.settle(shot)
    faces = sum(
        len(body.triangles) for body, state in zip(shot.bodies, shot.frames[0].bodies) if state.fracture is not None
    )
    return trial.Sample(shot, first, reading, CUT_SECONDS * faces)


def pattern_of(obj, origin, depsgraph=None):
    """The shot.Pattern that a body breaks along or None, and the reason if it should have one."""
    own = obj.pliant.fracture
    pattern = settings.pattern(own)
    if pattern is None or own.cells_from != "OBJECT":
        return pattern, None
    if (problem := settings.pattern_problem(obj)) is not None:
        return None, f'"{obj.name}" {problem}'
    other = own.cells_object
    if depsgraph is not None:
        other = other.evaluated_get(depsgraph)
    world = np.array(other.matrix_world, np.float64)
    world[:3, 3] -= origin
    pattern.points = (meshes.positions(other.data) @ world[:3, :3].T + world[:3, 3]).astype(np.float32)
    return pattern, None


def cell_objects(scene):
    """Objects whose vertices are the centres of other bodies' cells."""
    return {
        obj.pliant.fracture.cells_object
        for obj in scene.objects
        if obj.pliant.role == "BODY" and obj.pliant.fracture.breaks == "CELLS"
    }


_triangles = {}  # object's name -> (topology, triangles): finding them is slow


def mesh_arrays(obj, depsgraph=None):
    """Vertices in the object's space, triangles, and a hash of the faces. Modifiers that only move
    vertices are included; no modifier is switched for the preview, so with generative ones it is
    the mesh as modelled."""
    mesh = results.whole_mesh(obj)
    if depsgraph is not None and obj.modifiers:
        evaluated = obj.evaluated_get(depsgraph).data
        playing = modifiers.find_playback(obj) is not None
        if not playing and len(evaluated.vertices) == len(mesh.vertices):
            mesh = evaluated
    topology = meshes.topology(mesh)
    if _triangles.get(obj.name, ("",))[0] != topology:
        _triangles[obj.name] = (topology, meshes.triangles(mesh))
    return meshes.positions(mesh), _triangles[obj.name][1], topology


def forget():
    _triangles.clear()


def source_key(name, vertices, topology, world, made, pattern=None):
    """Equal for bodies with equal results. An object that was only moved is equal: the drawing
    moves with it."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((name, topology, sorted(made.items()))).encode())
    digest.update(world[:3, :3].round(6).tobytes())
    digest.update(vertices.tobytes())
    if pattern is not None:
        digest.update(repr((pattern.count, pattern.size, pattern.seed)).encode())
        digest.update(b"" if pattern.points is None else pattern.points.tobytes())
    return digest.hexdigest()


def fingerprint(request):
    """Equal for requests with equal outcomes."""
    plain = {
        name: value
        for name, value in vars(request).items()
        if name not in ("sources", "origin", "sample", "reading", "cutting", "dearer")
    }
    return repr((sorted(plain.items()), [source.key for source in request.sources]))
