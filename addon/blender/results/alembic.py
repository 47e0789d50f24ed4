# SPDX-License-Identifier: GPL-3.0-or-later
"""Alembic, through Blender's own exporter, and back as a Mesh Sequence Cache modifier.

The exporter writes a point attribute "velocity" as the velocities that renderers blur motion with,
if it changes from frame to frame. nodes.py lets it, without touching the mesh.
"""

import contextlib

import bpy
import numpy as np

from ...bake import manifest
from ...bake.errors import BakeError
from ...bake.formats import pc2
from .. import compat, meshes, modifiers
from . import nodes

NO_ALEMBIC = "This Blender was built without Alembic."


def export(scene, obj, path, first, last, source, velocities, whole=True):
    """Writes what an object shows in frames first to last.

    source, velocities: the PC2 file that it plays, and one of velocities in its coordinates. whole:
    with the modifiers that come after the result; otherwise the simulated mesh alone.
    """
    if not compat.has_alembic():
        raise BakeError(NO_ALEMBIC)
    with manifest.replaced(path) as unfinished:
        with contextlib.ExitStack() as stack:
            stack.enter_context(_kept_frame(scene))
            stack.enter_context(_only_selected(scene, obj))
            if not whole:
                stack.enter_context(modifiers.switched_off(obj, modifiers.after_playback(obj)))
            later = [obj.modifiers[name] for name in modifiers.after_playback(obj)]
            is_alone = not any(m.show_viewport or m.show_render for m in later)
            stack.enter_context(_with_velocity(obj, velocities, first))
            if is_alone:
                stack.enter_context(_compared(obj, first, pc2.frames(source), pc2.frames(velocities)))
            # objects that are not rendered have no mesh if modifiers are evaluated for rendering
            _run(unfinished, first, last, "RENDER" if whole and _is_rendered(obj) else "VIEWPORT")
        _check(unfinished, path)


def _is_rendered(obj):
    return not obj.hide_render and any(not c.hide_render for c in obj.users_collection)


def _run(path, first, last, evaluation):
    try:
        bpy.ops.wm.alembic_export(
            filepath=path,
            check_existing=False,
            start=first,
            end=last,
            selected=True,
            flatten=False,
            uvs=True,
            normals=True,
            vcolors=True,
            face_sets=True,
            subdiv_schema=False,
            apply_subdiv=True,
            export_hair=False,
            export_particles=False,
            evaluation_mode=evaluation,
            as_background_job=False,
        )
    except RuntimeError as error:
        raise BakeError(f"Blender could not export Alembic: {str(error).strip()}") from error


def _check(unfinished, path):
    """Blender does not report a full disk; a file that was closed properly is marked in its sixth
    byte."""
    try:
        with open(unfinished, "rb") as file:
            head = file.read(6)
    except FileNotFoundError:
        raise BakeError(f"Blender wrote no Alembic file to {path}.") from None
    if head != b"Ogawa\xff":
        raise BakeError(f"The Alembic file {path} could not be finished: is the disk full?")


@contextlib.contextmanager
def _compared(obj, first, rows, velocities):
    """Raises a BakeError at the end if Blender showed other vertices than the files have, in the
    frames evaluated within the block: where it cannot read a file, it silently shows the
    undeformed mesh."""
    name, wrong = obj.name, []

    def compare(scene, depsgraph=None):
        mesh = bpy.data.objects[name].evaluated_get(depsgraph).data if depsgraph else None
        row = scene.frame_current - first
        if mesh is None or not 0 <= row < len(rows):
            return
        speed = mesh.attributes.get("velocity")
        moving = np.empty(3 * len(speed.data), np.float32) if speed else np.zeros(0)
        if speed:
            speed.data.foreach_get("vector", moving)
        for found, wanted in ((meshes.positions(mesh), rows[row]), (moving, velocities[row])):
            if not np.array_equal(found.reshape(-1), np.reshape(wanted, -1)):
                wrong.append(scene.frame_current)

    bpy.app.handlers.frame_change_post.append(compare)
    try:
        yield
    finally:
        bpy.app.handlers.frame_change_post.remove(compare)
    if wrong:
        raise BakeError(
            f"Blender could not read the point cache of '{name}' in frame {wrong[0]}: the "
            f"disk may be faulty. Export again."
        )


@contextlib.contextmanager
def _kept_frame(scene):
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)


@contextlib.contextmanager
def _only_selected(scene, obj):
    """Selects one object, since the exporter takes what is selected and visible in the view layer."""
    layer = bpy.context.view_layer
    if bpy.context.scene != scene or obj.name not in layer.objects:
        raise BakeError(f"'{obj.name}' is not in the view layer '{layer.name}': Alembic cannot be exported.")
    selected = [o.name for o in layer.objects if o.select_get()]
    hidden = obj.hide_get(), obj.hide_viewport, obj.hide_select
    for name in selected:
        layer.objects[name].select_set(False)
    try:
        obj.hide_viewport = obj.hide_select = False
        obj.hide_set(False)
        obj.select_set(True)
        if not obj.visible_get() or not obj.select_get():
            raise BakeError(f"'{obj.name}' is in a hidden collection: show it to export Alembic.")
        yield
    finally:
        obj.select_set(False)
        for name in selected:
            if name in layer.objects:
                layer.objects[name].select_set(True)
        obj.hide_set(hidden[0])
        obj.hide_viewport, obj.hide_select = hidden[1:]


@contextlib.contextmanager
def _with_velocity(obj, path, first):
    """A modifier right after the result that adds the velocities; later modifiers propagate them."""
    companion = nodes.companion("Pliant Velocity", len(obj.data.vertices))
    group = None
    modifier = None
    try:
        modifiers.play(companion, path, first)
        group = nodes.velocity_group(companion)
        place = obj.modifiers.find(modifiers.find_playback(obj).name) + 1
        modifier = modifiers.insert(obj, place, "Pliant Velocity", "NODES")
        modifier.node_group = group
        yield
    finally:
        if modifier is not None:
            obj.modifiers.remove(modifier)
        if group is not None:
            bpy.data.node_groups.remove(group)
        nodes.remove_companion(companion)


# ---------------------------------------------------------------- import


def play(obj, path):
    """Replaces an object's playback modifier by one that reads the Alembic file."""
    place = obj.modifiers.find(modifiers.find_playback(obj).name)
    cache_file = _cache_file(path)
    modifiers.remove_playback(obj)
    modifier = modifiers.insert(obj, place, modifiers.PLAYBACK_NAME, "MESH_SEQUENCE_CACHE")
    modifier.cache_file = cache_file
    modifier.read_data = {"VERT"}
    modifier.use_vertex_interpolation = True  # off by default in 5.2
    # Blender reads the names in the file when it first evaluates it
    bpy.context.view_layer.update()
    paths = [p.path for p in cache_file.object_paths]
    if not paths:
        raise BakeError(f"Blender cannot read the Alembic file {path}.")
    modifier.object_path = max(paths, key=lambda p: p.count("/"))  # the mesh, not its parents
    return modifier


def _cache_file(path):
    """The data-block of a file; an existing one is reloaded."""
    kept = modifiers.blend_path(path)
    known = next(
        (c for c in bpy.data.cache_files if bpy.path.abspath(c.filepath) == str(path) and c.library is None), None
    )
    if known is not None:
        bpy.data.batch_remove([known])
    before = set(bpy.data.cache_files)
    bpy.ops.cachefile.open(filepath=str(path))
    made = next(c for c in bpy.data.cache_files if c not in before)
    made.filepath = kept
    made.velocity_name, made.velocity_unit = ".velocities", "SECOND"
    # opening adds a user without a reference: the modifier's is enough
    made.use_fake_user = False
    return made


def remove_cache_file(cache_file):
    if cache_file is not None and cache_file.users <= 1 and not cache_file.use_fake_user:
        bpy.data.batch_remove([cache_file])  # their collection has no remove()
