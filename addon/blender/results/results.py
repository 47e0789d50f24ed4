# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made of a finished bake on objects, without simulating again, and how it is taken back.

    make(scene, obj, "SHAPE_KEYS")      the object shows the bake in another way
    bind(scene, obj, "Suzanne")         another mesh follows the bake of a body
    remove(obj)                         the object is as it was
    clear(scene)                        so are all, and the bakes are deleted

Everything goes through the object's PC2 file in the cache (bake/output.py). An object whose body broke
gets a mesh that is cut along its cracks (fractured_mesh.py), whatever the result. What has to be known to take
a result back is kept in obj.pliant.result. Each raises a BakeError whose text can be shown.
"""

import contextlib

import bpy
import numpy as np

from ...bake import cache as caches
from ...bake import lock, transforms
from ...bake.errors import BakeError, file_error
from ...bake.formats import mdd, pc2
from ...bake.fractured_output import FracturedOutput, is_broken
from ...bake.output import Output, bound_name
from .. import compat, folders, meshes, modifiers
from . import alembic, attributes, debris, fractured_mesh, fragments, nodes, points, shapekeys


class Remark(str):
    """A sentence for the artist that is no warning."""


KINDS = ("PC2", "MDD", "SHAPE_KEYS", "ALEMBIC", "POINTS", "SURFACE", "FRAGMENTS", "DEBRIS")
APART = ("POINTS", "DEBRIS")  # kinds that are objects of their own


# ---------------------------------------------------------------- input


def open_cache(scene):
    cache = folders.cache_of(scene)
    if cache is None:
        raise BakeError(f"Nothing is baked in the scene '{scene.name}': bake first.")
    return cache


def body_for(scene, obj, cache):
    """The baked body that an object shows: the one it is bound to, or its own."""
    bound_to = obj.pliant.result.body
    body = cache.body(bound_to or obj.name)
    if body is None and not bound_to and obj.type == "MESH":
        # renamed since: the only body whose object is gone and whose mesh is equal
        topology = meshes.topology(whole_mesh(obj))
        lost = [b for b in cache.bodies if b.topology == topology and b.name not in scene.objects]
        body = lost[0] if len(lost) == 1 else None
    if body is None:
        names = ", ".join(f"'{b.name}'" for b in cache.bodies[:8])
        raise BakeError(
            f"'{bound_to or obj.name}' is not in the bake, which has {names}. Bake "
            f"again, or bind the mesh to one of these."
        )
    return body


def is_bound(obj):
    """Whether an object follows another one's bake."""
    return obj.pliant.result.kind not in APART and bool(obj.pliant.result.body)


def whole_mesh(obj):
    """An object's mesh as it is without cracks."""
    result = obj.pliant.result
    return result.mesh if result.is_cut and result.mesh is not None else obj.data


def check_object(obj):
    if obj is None or obj.type != "MESH":
        raise BakeError("Select a mesh: other objects cannot show a bake.")
    if obj.library is not None:
        raise BakeError(f"'{obj.name}' is linked from another file: make it local, or an override.")
    if obj.mode == "EDIT":
        raise BakeError(f"'{obj.name}' is in edit mode: leave it (Tab) first.")


def output_of(scene, obj, cache=None):
    """The Output of an object: its own body's, or that of the body it is bound to. It writes to the
    cache folder."""
    check_object(obj)
    folders.check_allowed(scene)
    cache = cache or open_cache(scene)
    body = body_for(scene, obj, cache)
    if is_bound(obj):
        return _bound_output(scene, obj, cache, body)
    mesh = whole_mesh(obj)
    if len(mesh.vertices) != body.vertices:
        raise BakeError(
            f"'{obj.name}' has been edited since the bake: it had {body.vertices} "
            f"vertices and has {len(mesh.vertices)}. Bake again."
        )
    if meshes.topology(mesh) != body.topology:
        raise BakeError(f"'{obj.name}' has been edited since the bake: its faces differ. Bake again.")
    return Output(cache, body)


def shown_output(scene, obj, plain):
    """What an object shows of its Output: with cracks, where the body broke."""
    if not _is_cut_of(scene, obj, plain.cache, plain.body):
        return plain
    made = fractured_mesh.output(scene, obj, whole_mesh(obj), plain)
    return plain if made.broken.untouched else made


def _is_cut_of(scene, obj, cache, body):
    """Whether an object's mesh is cut along the cracks of a body."""
    own = (scene.objects.get(body.name) or obj).pliant.fracture
    return is_broken(cache, body, own.use_partial)


def to_cut(scene, objects):
    """What cutting these objects' meshes along the cracks of the bake takes, for bake/cutting.py; those
    that did not break, or cannot be shown, are left out."""
    found = []
    for obj in objects:
        with contextlib.suppress(BakeError):
            plain = output_of(scene, obj)
            if _is_cut_of(scene, obj, plain.cache, plain.body):
                found.append((obj.name, fractured_mesh.inputs(scene, obj, whole_mesh(obj), plain)))
    return found


def stem_of(obj, body):
    """The name, without an ending, of the files in the cache that an object plays."""
    stem = bound_name(body, obj.name) if is_bound(obj) else body.file_name
    return f"{stem}.broken" if obj.pliant.result.is_cut else stem


def _bound_output(scene, obj, cache, body):
    """Where an object's mesh is at the bake's first frame, and where the object at each frame."""
    if not len(obj.data.vertices):
        raise BakeError(f"'{obj.name}' has no vertices.")
    frame, subframe = scene.frame_current, scene.frame_subframe
    layer = bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
    layer.update()  # it does not know objects that a script has just made
    if obj.name not in layer.objects or obj.hide_viewport:
        raise BakeError(f"'{obj.name}' is hidden in viewports, so that Blender does not evaluate it: show it.")
    with modifiers.switched_off(obj, modifiers.following(obj)):
        try:
            scene.frame_set(cache.start)
            layer.update()
            evaluated = obj.evaluated_get(layer.depsgraph)
            if len(evaluated.data.vertices) != len(obj.data.vertices):
                raise BakeError(
                    f"The modifiers of '{obj.name}' change its vertices: put them "
                    f"after the '{modifiers.PLAYBACK_NAME}' modifier."
                )
            local, triangles = meshes.positions(evaluated.data), meshes.triangles(evaluated.data)
            matrices = [np.array(evaluated.matrix_world, np.float64)]
            if _may_move(obj):
                for number in range(cache.start + 1, cache.end + 1):
                    scene.frame_set(number)
                    matrices.append(np.array(obj.evaluated_get(layer.depsgraph).matrix_world, np.float64))
        finally:
            scene.frame_set(frame, subframe=subframe)
    matrices = np.array(matrices)
    _check_places(obj, local, matrices)
    if (matrices == matrices[0]).all():
        matrices = matrices[:1]
    rest = transforms.to_simulation(local, matrices[0], cache.origin)
    return Output(cache, body, bound_name(body, obj.name), rest, matrices, triangles)


def _may_move(obj):
    """Whether anything could move an object from frame to frame."""
    while obj is not None:
        if obj.animation_data or obj.constraints or obj.rigid_body or obj.parent_type not in ("OBJECT",):
            return True
        obj = obj.parent
    return False


def _check_places(obj, local, matrices):
    if not np.isfinite(local).all():
        raise BakeError(f"'{obj.name}' has vertices that are no numbers (NaN).")
    if not np.isfinite(matrices).all():
        raise BakeError(f"The transform of '{obj.name}' is not a number.")
    sizes = np.linalg.svd(matrices[:, :3, :3], compute_uv=False)
    if (sizes[:, -1] < 1e-6 * sizes[:, 0]).any() or (sizes[:, 0] < 1e-12).any():
        raise BakeError(f"'{obj.name}' has zero scale: it cannot show the bake.")


# ---------------------------------------------------------------- making


def make(scene, obj, kind, relative=False, reimport=True, level=0, as_points=True, rigid=False, progress=None):
    """Has an object show its bake as a kind of result; returns sentences to tell the artist.

    relative: shape keys one a frame, for FBX. reimport: the object plays the Alembic file itself.
    level, as_points: of particles, which become an object of their own (SURFACE: with nodes that
    make a mesh of them). rigid: fragments become rigid bodies when they have settled.
    """
    if kind not in KINDS:
        raise BakeError(f"There is no result '{kind}'.")
    check_object(obj)
    if obj.pliant.result.kind in APART:
        what = "particles" if obj.pliant.result.kind == "POINTS" else "debris"
        raise BakeError(f"'{obj.name}' is the {what} of '{obj.pliant.result.body}': select the body itself.")
    if is_bound(obj) and (obj.pliant.result.kind == "SHAPE_KEYS" or obj.pliant.result.is_cut):
        _give_back(obj)  # a mesh is bound without its shape keys
    output = output_of(scene, obj)
    told = []
    if output.last < output.cache.end:
        told.append(
            Remark(f"Frames {output.first} to {output.last} are baked, of {output.first} to {output.cache.end}.")
        )
    if kind in ("POINTS", "SURFACE"):
        points.make(scene, output, level, as_points, progress, kind == "SURFACE", obj.active_material)
        return told
    output = shown_output(scene, obj, output)
    if kind in ("FRAGMENTS", "DEBRIS"):
        return told + _make_apart(scene, obj, output, kind, rigid, progress)
    if kind == "SHAPE_KEYS":
        told += _make_keys(scene, obj, output, relative, progress)
    elif kind == "ALEMBIC":
        told += _make_alembic(scene, obj, output, reimport, progress)
    else:
        path = _write(output, kind, progress)
        _give_back(obj)
        told += _cut_mesh(scene, obj, output)
        modifiers.play(obj, path, output.first, kind)
    obj.pliant.result.kind = "PC2" if kind == "ALEMBIC" and not reimport else kind
    body = scene.objects.get(output.body.name) or obj
    attributes.add(obj, output, attributes.wanted(body.pliant, obj.pliant.result.is_cut), progress)
    return told


def _write(output, kind, progress):
    """The file that a Mesh Cache modifier plays. Blender says nothing about files that do not fit,
    so they are looked at here."""
    path = output.point_cache(progress)
    if kind == "MDD":
        path = output.path("mdd")
        output.write_mdd(path, progress)
    (mdd if kind == "MDD" else pc2).check(path, output.vertices, output.count)
    return path


def _make_keys(scene, obj, output, relative, progress):
    if obj.override_library is not None:
        raise BakeError(
            f"'{obj.name}' is a library override, which cannot have new shape keys: "
            f"make it local, or use a point cache."
        )
    told = []
    rows = output.rows(progress)
    if output.count > shapekeys.MANY:
        room = output.count * output.vertices * 12 / 1e6
        told.append(
            f"{output.count} shape keys take {room:,.0f} MB in the .blend file and more in "
            f"memory: a point cache or Alembic plays faster."
        )
    _give_back(obj)
    told += _cut_mesh(scene, obj, output) or _own_mesh(obj)
    _switch_leading(obj)
    modifiers.remove_playback(obj)
    shapekeys.add(obj, output.first, rows, relative)
    return told


def _cut_mesh(scene, obj, output):
    """The mesh with cracks, if there are any; the original one is kept for Remove Result."""
    if not isinstance(output, FracturedOutput):
        return []
    if obj.override_library is not None:
        raise BakeError(f"'{obj.name}' is a library override, which cannot have a mesh with cracks: make it local.")
    body, result = scene.objects.get(output.body.name) or obj, obj.pliant.result
    result.mesh = fractured_mesh.show(obj, output, body.pliant.fracture.interior)
    result.is_cut = True
    count = output.pieces
    return [
        Remark(
            f"'{obj.name}' is cut along its cracks, in {count} piece"
            f"{'s' if count != 1 else ''}: Remove Result gives the former mesh back."
        ),
        *(f"'{obj.name}': {sentence}" for sentence in output.broken.warnings),
    ]


def _make_apart(scene, obj, output, kind, rigid, progress):
    """Results of a broken body other than the object itself."""
    if not isinstance(output, FracturedOutput):
        raise BakeError(f"'{obj.name}' does not break in this bake.")
    if kind == "DEBRIS":
        made = debris.make(scene, output, progress=progress)
        return [Remark(f"'{made.name}' has {len(made.data.vertices)} points.")]
    result, interior = obj.pliant.result, obj.pliant.fracture.interior
    output.point_cache(progress)
    _remove_fragments(obj)
    result.fragments = fragments.make(scene, obj, output, whole_mesh(obj), interior, rigid, progress)
    result.was_rendered = not obj.hide_render
    obj.hide_render = True
    _hide(obj, True)
    return [
        Remark(
            f"'{result.fragments.name}' has {output.pieces} fragments; '{obj.name}' itself is "
            f"hidden until the result is removed."
        )
    ]


def _own_mesh(obj):
    """A mesh that may get shape keys: without keys of the artist's and used by nobody else. The one
    that was there is kept, to be given back."""
    mesh = obj.data
    theirs = shapekeys.own_keys(mesh)
    shared = mesh.users - int(mesh.use_fake_user) > 1
    if not theirs and not shared and mesh.is_editable:
        return []
    copied = mesh.copy()
    obj.data = copied
    if copied.shape_keys:
        obj.shape_key_clear()
    obj.pliant.result.mesh = mesh
    why = (
        f"its {len(theirs)} shape keys"
        if theirs
        else "a mesh of another file"
        if not mesh.is_editable
        else "a mesh that others use too"
    )
    return [Remark(f"'{obj.name}' had {why}: it got a copy, and Remove Result gives the former mesh back.")]


def _switch_leading(obj):
    """Shape keys act before all modifiers: those that were input of the bake would act twice."""
    result = obj.pliant.result
    for modifier in list(obj.modifiers)[: modifiers.split(obj)]:
        kept = result.switched.add()
        kept.name = modifier.name
        kept.show_viewport, kept.show_render = modifier.show_viewport, modifier.show_render
        modifier.show_viewport = modifier.show_render = False


def _make_alembic(scene, obj, output, reimport, progress):
    path, velocities = output.path("abc"), output.path("velocity.pc2")
    source = output.point_cache_and(velocities, progress)
    pc2.check(source, output.vertices, output.count)
    _give_back(obj)
    told = _cut_mesh(scene, obj, output)
    modifiers.play(obj, source, output.first)
    obj.pliant.result.kind = "PC2"  # the state if anything fails from here on
    try:
        alembic.export(scene, obj, path, output.first, output.last, source, velocities, not reimport)
    finally:
        velocities.unlink(missing_ok=True)
    if reimport:
        alembic.play(obj, path)
        return told
    return told + [Remark(f"Saved {path}.")]


def bind(scene, obj, body_name, kind="PC2", **options):
    """Makes another mesh follow the bake of a body; as make()."""
    check_object(obj)
    cache = open_cache(scene)
    body = cache.body(body_name)
    if body is None:
        names = ", ".join(f"'{b.name}'" for b in cache.bodies[:8])
        raise BakeError(f"'{body_name}' is not in the bake, which has {names}.")
    if cache.body(obj.name) is not None and obj.name == body_name:
        raise BakeError(f"'{obj.name}' is that body itself: it need not be bound.")
    if kind in ("POINTS", "SURFACE", "FRAGMENTS", "DEBRIS"):
        what = "Particles" if kind in ("POINTS", "SURFACE") else kind.capitalize()
        raise BakeError(f"{what} are made from the body itself, not from a mesh bound to it.")
    result = obj.pliant.result
    before = result.body
    result.body = body_name
    try:
        return make(scene, obj, kind, **options)
    except BaseException:
        result.body = before
        raise


# ---------------------------------------------------------------- removing


def has_result(obj):
    return obj.pliant.result.kind != "NONE" or modifiers.find_playback(obj) is not None


def remove(obj):
    """Gives an object back as it was before it showed a bake; the files stay in the cache. An
    object that is a body's particles is removed."""
    if obj.pliant.result.kind in APART:
        nodes.remove_played(obj)
        return
    _give_back(obj, True)
    obj.pliant.result.body = ""


def clear(scene):
    """Takes back what plays from the scene's bakes, and deletes these. Yields each folder that was
    there as it is cleared."""
    folders.check_allowed(scene)
    both = [folders.folder_of(scene, quick) for quick in (False, True)]
    for folder in both:
        lock.refuse(folder)
    for folder in both:
        for obj in list(scene.objects):
            modifier = modifiers.find_playback(obj)
            if modifier is not None and modifiers.plays_from(modifier, folder):
                remove(obj)
            elif attributes.plays_from(obj, folder):
                attributes.remove(obj)  # shape keys do not need the file
        if not folder.is_dir():
            continue
        try:
            caches.clear(folder)
        except OSError as error:
            raise file_error(error, "clear", folder) from error
        yield folder


def _give_back(obj, playback=False):
    """Undoes all but the modifier that plays, which tells where the next result stands; with
    `playback` that too."""
    result = obj.pliant.result
    _remove_fragments(obj)
    attributes.remove(obj)
    if result.mesh is not None:
        _former_mesh(obj, result)
    elif result.kind == "SHAPE_KEYS":
        shapekeys.remove(obj)
    for kept in result.switched:
        modifier = obj.modifiers.get(kept.name)
        if modifier is not None:
            modifier.show_viewport, modifier.show_render = kept.show_viewport, kept.show_render
    result.switched.clear()
    modifier = modifiers.find_playback(obj)
    if modifier is not None and (playback or modifier.type == "MESH_SEQUENCE_CACHE"):
        place = obj.modifiers.find(modifier.name)
        read = getattr(modifier, "cache_file", None)
        modifiers.remove_playback(obj)
        alembic.remove_cache_file(read)
        if not playback:  # the playback modifier is kept
            modifiers.insert(obj, place, modifiers.PLAYBACK_NAME, "MESH_CACHE")
    result.kind = "NONE"


def _remove_fragments(obj):
    result = obj.pliant.result
    if result.fragments is not None:
        fragments.remove(result.fragments)
        result.fragments = None
        obj.hide_render = not result.was_rendered
        _hide(obj, False)


def _hide(obj, hidden):
    with contextlib.suppress(RuntimeError):  # it may not be in this view layer
        obj.hide_set(hidden)


def _former_mesh(obj, result):
    made = obj.data
    action = None
    if made.shape_keys and made.shape_keys.animation_data:
        action = made.shape_keys.animation_data.action
    obj.data, result.mesh, result.is_cut = result.mesh, None, False
    if made.users == 0 and made.library is None:
        bpy.data.meshes.remove(made)
    compat.remove_unused_action(action)


def before_capture(scene):
    """Shows bodies again that were hidden for their fragments."""
    for obj in scene.objects:
        if obj.pliant.role == "BODY" and obj.pliant.result.fragments is not None and obj.library is None:
            _give_back(obj)


def before_bake(scene):
    """Takes shape keys and cracks of a former bake away, which would be baked again, and attributes,
    whose file goes."""
    for obj in scene.objects:
        result = obj.pliant.result
        if (
            obj.pliant.role == "BODY"
            and (
                result.kind == "SHAPE_KEYS"
                or result.is_cut
                or result.fragments is not None
                or result.values is not None
            )
            and obj.library is None
        ):
            _give_back(obj)


def show_bake(obj, cache, body):
    """Makes a body's object play its point cache, whatever it showed before."""
    _give_back(obj)
    modifiers.install_playback(obj, cache, body)


def after_bake(scene, finished, uncut=()):
    """The bodies get the kind of result that the scene asks for (finished: all frames are there),
    and meshes that are bound to them and particles follow the new bake. uncut: names of bodies that
    are not to be cut along their cracks. Returns sentences on what could not be."""
    told = []
    kind = scene.pliant.output
    for obj in list(scene.objects):
        result = obj.pliant.result
        if (
            obj.type != "MESH"
            or obj.library is not None
            or obj.name in uncut
            or result.body in uncut
            and result.kind != "POINTS"
        ):
            continue
        try:
            if result.kind == "DEBRIS":
                told += _debris_again(scene, obj)
            elif result.kind == "POINTS":
                told += _points_again(scene, obj)
            elif is_bound(obj) and result.kind != "NONE":
                told += make(scene, obj, result.kind, relative=_is_relative(obj))
            elif (
                finished
                and obj.pliant.role == "BODY"
                and (kind != "PC2" or attributes.wanted(obj.pliant, False) or came_apart(scene, obj))
            ):
                told += make(scene, obj, kind)
        except BakeError as error:
            told.append(f"'{obj.name}' does not show the new bake: {error}")
    return [sentence for sentence in told if not isinstance(sentence, Remark)]


def came_apart(scene, obj):
    """Whether an object's body broke in the bake."""
    cache = open_cache(scene)
    return _is_cut_of(scene, obj, cache, body_for(scene, obj, cache))


def _is_relative(obj):
    return bool(obj.data.shape_keys and obj.data.shape_keys.use_relative)


def _debris_again(scene, obj):
    body = scene.objects.get(obj.pliant.result.body)
    if body is None:
        return [f"'{obj.name}' shows debris of a body that no longer exists."]
    return make(scene, body, "DEBRIS")


def _points_again(scene, obj):
    cache = open_cache(scene)
    body = cache.body(obj.pliant.result.body)
    if body is None:
        return [f"'{obj.name}' shows particles of a body that is no longer baked."]
    points.fill(obj, Output(cache, body))
    return []
