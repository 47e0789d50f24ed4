# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake, Resume, Rebake from here, Quick Bake, Cancel, Clear.

In a window a bake is a modal operator that polls its run a few times a second. Without a window, or
called with EXEC_DEFAULT, it returns when the bake is finished.
"""

import json

import bpy

from ...bake import plan
from ...bake.errors import BakeError
from ...blender import folders, redraw, runs, settings
from ...blender.capture import capture
from ...blender.results import results
from ...blender.runs import running
from ...solver import LibraryError

TICK = 0.05  # seconds between polls of a run
CAPTURE_BUDGET = 0.03  # seconds of a tick that reading the scene may take
LONGEST_PATH = 120  # characters of a path in a question
TEXT_EVERY = 4  # ticks between redraws of the interface
PANELS = {
    "PROPERTIES": {"WINDOW", "HEADER"},
    "VIEW_3D": {"UI"},
    "DOPESHEET_EDITOR": {"WINDOW"},
    "STATUSBAR": {"HEADER"},
}


def redraw_interface(context):
    """Redraws panels, timeline and status bar, but not the 3D view, which is expensive."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            wanted = PANELS.get(area.type, ())
            for region in area.regions:
                if region.type in wanted:
                    region.tag_redraw()


class _Baking:
    """Base of the operators that bake."""

    bl_options = {"REGISTER", "UNDO"}
    _run = None
    _ticks = 0

    @classmethod
    def poll(cls, context):
        if context.scene is None:
            return False
        if running(context.scene):
            cls.poll_message_set("A bake is running: cancel it first")
            return False
        if not any(o.pliant.role == "BODY" for o in context.scene.objects):
            cls.poll_message_set("There is no soft body in this scene")
            return False
        return True

    def make_run(self, scene):
        return runs.Run(scene)

    def _begin(self, context):
        """The run, or None with a report."""
        if running(context.scene):
            self.report({"ERROR"}, "A bake is running: cancel it first.")
            return None
        try:
            return self.make_run(context.scene)
        except (capture.CaptureError, BakeError, LibraryError) as error:
            self.report({"ERROR"}, str(error))
            return None

    def execute(self, context):
        run = self._begin(context)
        if run is None:
            return {"CANCELLED"}
        runs.add(run)
        try:
            run.run()
        finally:
            message = runs.end(run)
        return self._result(run, message)

    def invoke(self, context, _event):
        if context.window is None or bpy.app.background:
            return self.execute(context)
        if folders.is_outside(context.scene):
            return confirm_folder_first(self)
        run = self._begin(context)
        if run is None:
            return {"CANCELLED"}
        self._stop_playback(context)
        runs.add(run)
        self._run = run
        run.watch(context, TICK)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        run = self._run
        if event.type == "ESC" and event.value == "PRESS" and not run.ended:
            run.cancel()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if run.job is None:
            self._stop_playback(context)
        run.step(CAPTURE_BUDGET)
        if run.ended:
            run.leave()
            result = self._result(run, runs.end(run))
            redraw_interface(context)
            redraw.settle()  # buttons replace the progress bar
            return result
        self._ticks += 1
        if self._ticks % TEXT_EVERY == 1:
            if context.workspace is not None:
                context.workspace.status_text_set(run.text())
            redraw_interface(context)
        return {"PASS_THROUGH"}

    def cancel(self, context):
        """Called by Blender when another file is loaded or the window is closed."""
        run, self._run = self._run, None
        if run is None:
            return
        run.leave()
        if not run.ended:
            run.cancel()
            run.wait(runs.WAIT)
            runs.end(run)
        redraw.settle()

    @staticmethod
    def _stop_playback(context):
        if context.screen is not None and context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)

    def _result(self, run, message):
        kind, sentence = message
        self.report({kind}, sentence)
        # from now on the baked frames are played, also after an error: undo can revert it
        return {"CANCELLED"} if run.frame is None else {"FINISHED"}


class PLIANT_OT_bake(_Baking, bpy.types.Operator):
    """Simulate all soft bodies of the scene from the first frame to the last"""

    bl_idname = "pliant.bake"
    bl_label = "Bake"


class PLIANT_OT_quick_bake(_Baking, bpy.types.Operator):
    """Simulate with fewer particles to judge the motion. The real bake is kept"""

    bl_idname = "pliant.quick_bake"
    bl_label = "Quick Bake"

    def make_run(self, scene):
        return runs.Run(scene, quick=scene.pliant.quick_factor)


class PLIANT_OT_set_substeps(bpy.types.Operator):
    """Set Substeps to what the stiffness of the last bake needs. Bake again to use them"""

    bl_idname = "pliant.set_substeps"
    bl_label = "Allow Substeps"
    bl_options = {"REGISTER", "UNDO"}

    substeps: bpy.props.IntProperty(name="Substeps", default=32, min=1, max=1000)

    def execute(self, context):
        own = context.scene.pliant
        setattr(own, "substeps" if own.substeps_mode == "FIXED" else "max_substeps", self.substeps)
        return {"FINISHED"}


class PLIANT_OT_resume(_Baking, bpy.types.Operator):
    """Continue a bake that was cancelled or killed, or bake frames that were added at the end"""

    bl_idname = "pliant.resume"
    bl_label = "Resume"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        baked = folders.baked_range(context.scene)
        if baked is None:
            cls.poll_message_set("There is no bake to resume: press Bake")
            return False
        if baked[1] >= settings.frame_range(context.scene)[1]:
            cls.poll_message_set("All frames are baked. Bake starts again, Rebake Here starts at the current frame")
            return False
        return True

    def make_run(self, scene):
        return runs.Run(scene, plan.RESUME)


class PLIANT_OT_rebake_from_current(_Baking, bpy.types.Operator):
    """Keep the bake up to the last checkpoint before the current frame and simulate the rest again \
with the current settings"""

    bl_idname = "pliant.rebake_from_current"
    bl_label = "Rebake from Current Frame"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        baked = folders.baked_range(context.scene)
        if baked is None or not baked[0] <= context.scene.frame_current <= baked[1]:
            cls.poll_message_set("The current frame is not baked")
            return False
        return True

    def make_run(self, scene):
        return runs.Run(scene, plan.REBAKE, from_frame=scene.frame_current)


class PLIANT_OT_cancel(bpy.types.Operator):
    """Stop the bake; finished frames are kept, and Resume continues from there"""

    bl_idname = "pliant.cancel"
    bl_label = "Cancel Bake"

    @classmethod
    def poll(cls, context):
        if context.scene is None or not running(context.scene):
            cls.poll_message_set("No bake is running")
            return False
        return True

    def execute(self, context):
        run = running(context.scene)
        if run is None:
            self.report({"INFO"}, "No bake is running.")
            return {"CANCELLED"}
        run.cancel()
        return {"FINISHED"}


class PLIANT_OT_allow_folder(bpy.types.Operator):
    """Allow writing to the cache folder that this file names, which is outside of the file's own \
folder, until another file is opened"""

    bl_idname = "pliant.allow_folder"
    bl_label = "Use This Cache Folder"
    bl_options = {"INTERNAL"}

    then: bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    arguments: bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context, event):
        return _confirm_folder(self, context, event, "Use Folder")

    def execute(self, context):
        folders.allow(context.scene)
        if self.then:
            call = getattr(bpy.ops.pliant, self.then)
            call("INVOKE_DEFAULT", **json.loads(self.arguments or "{}"))
        return {"FINISHED"}


def confirm_folder_first(operator):
    """For invoke() of an operator where folders.is_outside(): asks, and invokes the operator again
    after a yes."""
    name = operator.bl_idname.rpartition("_OT_")[2].rpartition(".")[2]  # PLIANT_OT_bake, pliant.bake
    return bpy.ops.pliant.allow_folder("INVOKE_DEFAULT", then=name, arguments=json.dumps(operator.as_keywords()))


def _confirm_folder(operator, context, event, button):
    """Blender does not wrap paths: the middle of a long one is left out."""
    folder = str(folders.folder_of(context.scene))
    if len(folder) > LONGEST_PATH:
        folder = f"{folder[: LONGEST_PATH // 3]} ... {folder[-LONGEST_PATH // 2 :]}"
    return context.window_manager.invoke_confirm(
        operator,
        event,
        title="Cache Folder outside of this file's folder",
        confirm_text=button,
        icon="WARNING",
        message=f"The file names {folder}. A bake there is replaced or deleted.",
    )


class PLIANT_OT_clear(bpy.types.Operator):
    """Delete the baked frames from the disk and show the bodies as they were. Shape keys, which are \
stored in the file, are kept. This cannot be undone"""

    bl_idname = "pliant.clear"
    bl_label = "Clear Bake"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.scene is None or running(context.scene):
            cls.poll_message_set("A bake is running: cancel it first")
            return False
        if not any((folders.folder_of(context.scene, quick)).is_dir() for quick in (False, True)):
            cls.poll_message_set("Nothing is baked")
            return False
        return True

    outside: bpy.props.BoolProperty(options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context, event):
        self.outside = folders.is_outside(context.scene)
        if self.outside:
            return _confirm_folder(self, context, event, "Delete")
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context):
        scene = context.scene
        if self.outside:  # confirmed
            folders.allow(scene)
        if running(scene):
            self.report({"ERROR"}, "A bake is running: cancel it first.")
            return {"CANCELLED"}
        try:
            list(results.clear(scene))
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        redraw_interface(context)
        return {"FINISHED"}


classes = (
    PLIANT_OT_bake,
    PLIANT_OT_quick_bake,
    PLIANT_OT_set_substeps,
    PLIANT_OT_resume,
    PLIANT_OT_rebake_from_current,
    PLIANT_OT_cancel,
    PLIANT_OT_allow_folder,
    PLIANT_OT_clear,
)


def register():
    for cls in classes:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
