# SPDX-License-Identifier: GPL-3.0-or-later
"""From Blender's evaluated scene to a Shot, a frame at a time.

    shot = capture_all(scene)                       # the command line: at once
    for number in (capturing := Capture(scene)):    # a modal operator: a few frames a tick
        ...
    shot = capturing.shot

While frames are captured, the scene's current frame changes and modifiers after the result are off.
release() restores both. It may be called between any two frames (for instance before a save) and
must be called at the end; the next frame acquires them again.

Values are read at every frame at which Blender has evaluated anything; the meshes of colliders and
of pinned bodies, which are large, only if their own geometry was evaluated. Derived values are
computed again only if their inputs changed, and are otherwise the same object in both frames. If
Blender evaluates nothing from one frame to the next, nothing in the scene depends on time: unless
handlers of other add-ons may change it, the remaining frames are copies.
"""

import bpy

from ...bake import volume
from ...fracture import CrackError, cut
from .. import modifiers, settings
from . import collider_meshes
from .reading import Evaluated, Reading, bodies, collider_objects, view_layer_of
from .refusals import CaptureError, PackageError, refuse_hidden
from .scene_reader import SceneReader

PLIANT = __package__.rpartition(".blender.")[0]  # to recognise our own handlers


def package_problem():
    """A sentence if the package that cuts meshes along cracks is missing, or None."""
    try:
        cut.library()
    except CrackError as error:
        return str(error)
    return None


def capture(context_or_scene, **options):
    """A generator of frame numbers whose value (of StopIteration, or `yield from`) is the Shot."""
    capturing = Capture(context_or_scene, **options)
    try:
        yield from capturing
    finally:
        capturing.release()
    return capturing.shot


def capture_all(context_or_scene, **options):
    capturing = Capture(context_or_scene, **options)
    for _ in capturing:
        pass
    return capturing.shot


def set_frame(scene, number):
    """Evaluates the scene at a frame: the expensive part of capturing, all of it in Blender."""
    scene.frame_set(number)


class Capture:
    """An iterator over the captured frames. quick: share of the particles to use."""

    def __init__(self, context_or_scene, start=None, end=None, quick=None):
        scene = getattr(context_or_scene, "scene", context_or_scene)
        self._scene_name = scene.name
        first, last = settings.frame_range(scene)
        self.start = first if start is None else start
        self.end = last if end is None else end
        self.quick = quick
        self.done = 0  # frames captured
        self._number = self.start
        self._held = None  # (frame, subframe, modifiers that were switched off)
        self._updated = None  # names of other data that were evaluated; None: unknown
        self._told = []  # warnings from before the shot existed
        self._reading = Reading(self.start, quick, settings.metres(scene), Evaluated())
        self._reader = SceneReader(self._reading)
        self._check(scene)

    # ------------------------------------------------------------ iterating

    @property
    def scene(self):
        scene = bpy.data.scenes.get(self._scene_name)
        if scene is None:
            raise CaptureError(f"The scene '{self._scene_name}' is gone.")
        return scene

    @property
    def shot(self):
        """The shot as far as it is captured; None at first."""
        return self._reading.shot

    @property
    def count(self):
        return self.end - self.start + 1

    def __iter__(self):
        return self

    def __next__(self):
        if self._number > self.end:
            self.release()
            raise StopIteration
        try:
            self._capture(self._number)
        except BaseException:
            self.release()
            raise
        self._number += 1
        self.done += 1
        if self._number > self.end:
            self.release()
            volume.settle(self.shot)
        return self._number - 1

    def hold(self):
        if self._held is None:
            scene = self.scene
            switched = [(o.name, name) for o in bodies(scene) for name in modifiers.following(o)]
            self._held = (scene.frame_current, scene.frame_subframe, switched)
            self._switch(switched, False)
            self._reading.evaluated = self._updated = None
            bpy.app.handlers.frame_change_post.append(self._note)

    def _note(self, _scene, graph=None):
        """Called when Blender has evaluated a frame."""
        self._reading.evaluated = self._updated = None
        if graph is not None:
            self._updated = {update.id.original.name_full for update in graph.updates}
            self._reading.evaluated = {
                update.id.original.name
                for update in graph.updates
                if update.is_updated_geometry and isinstance(update.id, bpy.types.Object)
            }

    def _is_still(self):
        """Whether nothing changed in the last frame, nor will in the following ones."""
        foreign = [
            handler
            for name in ("frame_change_pre", "frame_change_post")
            for handler in getattr(bpy.app.handlers, name)
            if not getattr(handler, "__module__", "").startswith(PLIANT)
        ]
        return self._held is not None and self.done > 1 and self._updated == set() and not foreign

    def release(self):
        """Restores the current frame and the modifiers."""
        if self._held is None:
            return
        (frame, subframe, switched), self._held = self._held, None
        bpy.app.handlers.frame_change_post.remove(self._note)
        self._switch(switched, True)
        scene = bpy.data.scenes.get(self._scene_name)
        if scene is not None:
            scene.frame_set(frame, subframe=subframe)

    def _switch(self, switched, on):
        for object_name, modifier_name in switched:
            obj = bpy.data.objects.get(object_name)
            modifier = obj and obj.modifiers.get(modifier_name)
            if modifier:
                modifier.show_viewport = on

    # ------------------------------------------------------------ refusals

    def _check(self, scene):
        if self.end < self.start:
            raise CaptureError(f"There are no frames to bake: the bake starts at {self.start} and ends at {self.end}.")
        found = bodies(scene)
        if not found:
            raise CaptureError("There is no soft body in this scene: select a mesh and make it one.")
        layer = view_layer_of(scene)
        layer.update()  # objects that a script has just linked are only then in the view layer
        for obj in found:
            self._check_body(obj, layer)
        for obj in collider_objects(scene):
            refuse_hidden(obj, layer, "collider")
            if obj.type not in collider_meshes.MESHLIKE and obj.type != "EMPTY":
                raise CaptureError(f"The collider '{obj.name}' has no surface: it is a {obj.type.lower()}.", obj.name)

    def _check_body(self, obj, layer):
        if obj.type != "MESH":
            raise CaptureError(
                f"'{obj.name}' is no mesh but a {obj.type.lower()}: only meshes can be soft bodies.", obj.name
            )
        refuse_hidden(obj, layer, "soft body")
        if obj.mode == "EDIT":
            raise CaptureError(f"'{obj.name}' is in edit mode: leave it (Tab) to bake.", obj.name)
        if not len(obj.data.polygons):
            what = "faces" if len(obj.data.vertices) else "vertices"
            raise CaptureError(f"'{obj.name}' has no {what}: it cannot be a soft body.", obj.name)
        if self.quick is None and obj.pliant.fracture.use_fracture:
            if problem := package_problem():  # refused now, not only after simulating
                raise PackageError(f"'{obj.name}' is to break. {problem}", obj.name)
        if left_out := modifiers.left_out(obj):
            self._told.append(
                f"'{obj.name}' is simulated without {left_out}, which acts on the "
                f"result: apply it if it is part of the body."
            )
        if rig := modifiers.late_rig(obj):
            self._told.append(f"'{obj.name}': {rig}.")

    # ------------------------------------------------------------ capturing

    def _capture(self, number):
        if self._is_still():
            self.shot.frames.append(self._reader.again(self.shot.frames[-1], number))
            return
        self.hold()
        scene = self.scene
        self._reading.evaluated = self._updated = None  # until Blender reports
        set_frame(scene, number)
        layer = view_layer_of(scene)
        if self.shot is None:
            for obj in bodies(scene) + collider_objects(scene):
                obj.update_tag(refresh={"OBJECT"})  # settings set by a script are not evaluated otherwise
            layer.update()
            self._reader.begin(scene, layer.depsgraph, self.end, self._told)
        self.shot.frames.append(self._reader.frame(scene, layer.depsgraph, number))
