# SPDX-License-Identifier: GPL-3.0-or-later
"""The running preview: builds when something changes, paints, draws, and cleans up.

    switched on ──► gather (main thread) ──► Builder (its thread) ──► paint, draw, show estimates
                        ▲                                                      │
                        └── settings or meshes changed, then a quiet moment ◄──┘

Objects are identified by name only, since undo replaces them. Nothing is saved in the file.
"""

import atexit
import time

import bpy

from ..bake.errors import BakeError
from ..blender import folders, modifiers, redraw, runs
from . import build, colours, gather, overlay, pieces, strain

# Colours that come from the bake, frame by frame, and what a bake would show.
BAKED = {"PLASTIC": "where bodies flow", "RENEWED": "where clusters are renewed", "PIECE": "the pieces of bodies"}
QUIET = 0.35  # seconds without a change before a rebuild
TICK = 0.1


class Session:
    """A preview that is on, of one scene."""

    def __init__(self, scene):
        self.scene = scene.name
        self.outcome = None
        self.refused = {}  # object's name -> sentence
        self.error = ""
        self.builder = None
        self.changed_at = 0.0  # 0: nothing has changed
        self.built_from = ""
        self.frame = scene.frame_current
        self.painted = {}  # mesh's name -> key of its colours
        self.sample = None  # trial.Sample of the scene, taken when the preview was switched on
        self.tried = {}  # reading, cutting, dearer: results of the trial
        self.strains = {}  # object's name -> strain.Strains of the bake that was read


_session = None
_swept = set()  # meshes that once had preview colours: an undo may restore them


def current(scene=None):
    """The running session (of that scene), or None."""
    if _session is None or scene is not None and scene.name != _session.scene:
        return None
    return _session


def shown(obj):
    """What the preview knows of an object's body, or None."""
    if _session is None or _session.outcome is None:
        return None
    return next((body for body in _session.outcome.bodies if body.name == obj.name), None)


def start(scene, wait=False):
    """Switches the preview on. wait: returns when it is built (always without a window)."""
    global _session
    stop()
    _session = Session(scene)
    _session.sample = gather.sample(scene)
    overlay.start(_to_draw)
    _gather()
    if bpy.app.background or wait:
        finish()
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=TICK)


def _end():
    """Ends the session but keeps its colours; false if there was none."""
    global _session
    if _session is None:
        return False
    if _session.builder:
        _session.builder.cancel()
    _session = None
    overlay.stop()
    gather.forget()
    return True


def stop():
    """Switches it off: restores meshes and viewports."""
    if not _end():
        return
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _swept.update(colours.painted())
    colours.clean_all()
    colours.restore_viewports()
    _redraw()


def finish(seconds=600):
    """Waits for the running build, and shows it."""
    if _session and _session.changed_at:
        _gather()
    if _session and _session.builder:
        _session.builder.wait(seconds)
        _take()


def touch(*_):
    """Something that the preview may depend on has changed."""
    if _session is not None:
        _session.changed_at = time.monotonic()


def _gather():
    """Reads the scene and starts a build if its input has changed."""
    session = _session
    session.changed_at = 0.0
    scene = bpy.data.scenes.get(session.scene)
    if scene is None:
        stop()
        return
    depsgraph = None
    if bpy.context.scene == scene:
        depsgraph = bpy.context.evaluated_depsgraph_get()
    request, session.refused = gather.request(scene, depsgraph)
    request.sample = session.sample
    vars(request).update(session.tried)
    made_from = gather.fingerprint(request)
    if made_from == session.built_from:
        _paint()
        return
    if session.builder:
        session.builder.cancel()
    session.built_from = made_from
    session.builder = build.Builder(request).start()
    _redraw()


def _take():
    """Takes over the result of a builder."""
    session = _session
    builder, session.builder = session.builder, None
    if builder.cancelled:
        return
    session.outcome, session.error = builder.outcome, builder.error
    if builder.outcome:
        session.sample = None  # settings may differ the next time
        session.tried = {name: getattr(builder.outcome, name) for name in ("reading", "cutting", "dearer")}
        session.refused.update(builder.outcome.errors)
        _paint()
    _redraw()


def _paint():
    """Writes the colours to the meshes of the bodies, or removes them."""
    session = _session
    scene = bpy.data.scenes.get(session.scene)
    if scene is None or session.outcome is None:
        return
    wanted = set()
    if scene.pliant.preview_colours:
        for body in session.outcome.bodies:
            obj = scene.objects.get(body.name)
            if obj is None or obj.type != "MESH" or obj.pliant.role != "BODY":
                continue
            if _paint_body(scene, obj, body):
                wanted.add(obj.data.name)
    for name in colours.painted():
        mesh = bpy.data.meshes.get(name)
        if name not in wanted and mesh is not None and colours.is_painted(mesh):
            colours.clean(mesh)
    if wanted:
        colours.show_in_viewports()


def _paint_body(scene, obj, body):
    """Whether a body's mesh has its colours now."""
    session = _session
    shown, make = (body.serial, None), lambda: body.vertex_colours
    if scene.pliant.preview_colour_by in BAKED:
        try:
            found = _baked_values(scene, obj)
            frame = min(max(scene.frame_current, found.first), found.last)
            shown, make = (found.mark, frame, type(found)), lambda: found.colours(frame)
        except BakeError as error:
            session.refused[body.name] = str(error)
    # painting changes the mesh, which would start another build
    if session.painted.get(obj.data.name) == shown and colours.is_painted(obj.data):
        return True
    try:
        problem = colours.paint(obj.data, make())
    except BakeError as error:
        problem = str(error)
    if problem:
        session.refused[body.name] = problem
        return False
    session.painted[obj.data.name] = shown
    return True


def _baked_values(scene, obj):
    """The plastic strains, new clusters or pieces of a body in the current bake."""
    cache, by = folders.cache_of(scene), scene.pliant.preview_colour_by
    if cache is None:
        raise BakeError(f"Nothing is baked: bake to see {BAKED[by]}")
    key = by, obj.name, obj.pliant.result.is_cut
    known = _session.strains.get(key)
    if known is None or known.mark != strain.mark(cache):
        known = _session.strains[key] = (
            strain.Strains(cache, obj.name)
            if by == "PLASTIC"
            else strain.Renewed(cache, obj.name)
            if by == "RENEWED"
            else pieces.Pieces(cache, obj.name, obj.pliant.result.is_cut)
        )
    _session.refused.pop(obj.name, None)
    return known


def _to_draw():
    """For the overlay: the scene's settings and each body with its place now."""
    session = _session
    if session is None or session.outcome is None or bpy.context.scene.name != session.scene:
        return None
    bodies = []
    for body in session.outcome.bodies:
        obj = bpy.context.scene.objects.get(body.name)
        if obj is not None and obj.pliant.role == "BODY" and obj.visible_get() and not _has_moved(obj):
            bodies.append((body, overlay.placed(body, session.outcome.origin, obj.matrix_world)))
    return bpy.context.scene.pliant, bodies


def _has_moved(obj):
    """Whether a baked body is away from its first frame: particles are drawn at rest and would not
    match it."""
    playback = modifiers.find_playback(obj)
    return playback is not None and playback.show_viewport and bpy.context.scene.frame_current > playback.frame_start


def _tick():
    """Timer callback: takes over builds, starts new ones after a quiet moment."""
    if _session is None:
        return None
    if _session.builder:
        if _session.builder.done:
            _take()
        _redraw(view=False)
    quiet = time.monotonic() - _session.changed_at > QUIET
    if _session.changed_at and quiet and not _is_baking():
        _gather()
    return TICK if _session else None


def _is_baking():
    """Whether a bake is running: it changes the scene's frame and needs the processor."""
    return runs.any_running()


def _redraw(view=True):
    if bpy.app.background:
        return
    if view:
        overlay.redraw()
        redraw.settle()
    redraw.redraw_panels()


# ---------------------------------------------------------------- handlers


@bpy.app.handlers.persistent
def _on_change(scene, depsgraph):
    """A mesh was edited. Playback changes meshes too: those are not edits."""
    if _session is None:
        return
    if scene.frame_current != _session.frame:
        _session.frame = scene.frame_current
        return
    for update in depsgraph.updates:
        if isinstance(update.id, bpy.types.Object) and (
            update.is_updated_geometry
            and update.id.original.pliant.role == "BODY"
            or update.id.original in gather.cell_objects(scene)
        ):
            touch()
            return


@bpy.app.handlers.persistent
def _on_frame(scene, *_):
    """Strains change with the frame; nothing else that is painted does."""
    if (
        _session is not None
        and scene.name == _session.scene
        and scene.pliant.preview_colours
        and scene.pliant.preview_colour_by in BAKED
        and not bpy.app.is_job_running("RENDER")
        and not _is_baking()
    ):
        _paint()


@bpy.app.handlers.persistent
def _before_save(*_):
    if _session is not None:
        colours.clean_all(forget=False)


@bpy.app.handlers.persistent
def _after_save(*_):
    if _session is not None:
        _paint()


@bpy.app.handlers.persistent
def _before_load(*_):
    """Called before another file is loaded."""
    if not _end():
        return
    colours.restore_viewports()
    colours.forget()
    _swept.clear()


@bpy.app.handlers.persistent
def _after_undo(*_):
    if _session is not None:
        _paint()
        touch()
    else:
        colours.sweep(_swept)


HANDLERS = {
    "depsgraph_update_post": _on_change,
    "frame_change_post": _on_frame,
    "save_pre": _before_save,
    "save_post": _after_save,
    "save_post_fail": _after_save,
    "load_pre": _before_load,
    "undo_post": _after_undo,
    "redo_post": _after_undo,
}


def register():
    atexit.register(build.stop_all)
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    stop()
    build.stop_all()
    atexit.unregister(build.stop_all)
    for name, handler in HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
