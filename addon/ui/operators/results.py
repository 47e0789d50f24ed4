# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that make results from a finished bake and remove them."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...bake.cutting import Cutting
from ...bake.errors import BakeError
from ...blender import compat, folders, runs
from ...blender.results import alembic, refine, results
from ...solver import LibraryError
from ..properties import settings as properties
from .bake import confirm_folder_first

FORMATS = [
    *properties.RESULTS,
    (
        "POINTS",
        "Particles",
        "The particles as an object, with cluster, level, velocity, stretch, plastic strain, radius and deformation",
    ),
    (
        "SURFACE",
        "Particle Mesh",
        "The particles as an object whose nodes make a mesh from them, for flow that the body's own "
        "faces cannot follow; hide the body ",
    ),
    (
        "FRAGMENTS",
        "Fragments",
        "An object for each fragment of a body that broke, which moves and "
        "turns as the fragment does; the body itself is hidden",
    ),
    ("DEBRIS", "Debris", "Points on the cracks with velocity and opening frame, to emit debris and dust from"),
]


TICK = 0.1  # seconds between polls of a mesh that is being cut
_cuts = []  # the running Cutting


class _ResultOperator:
    """Base of the operators on results: the object, progress in the cursor, reports."""

    bl_options = {"REGISTER", "UNDO"}
    writes = True  # to the cache folder

    @staticmethod
    def no_mesh(context):
        """Why there is no object to work on, or None."""
        if context.object is None or context.object.type != "MESH":
            return "Select a mesh"
        return None if context.mode == "OBJECT" else "Only in object mode"

    @classmethod
    def refusal(cls, context):
        """Why the operator is not available, or None."""
        if reason := cls.no_mesh(context):
            return reason
        if runs.running(context.scene):
            return "A bake is running: cancel it first"
        if _cuts:
            return "A mesh is being cut along its cracks: wait, or press Esc"
        if folders.baked_range(context.scene) is None:
            return "Nothing is baked yet"
        return None

    @classmethod
    def poll(cls, context):
        reason = cls.refusal(context)
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def invoke(self, context, _event):
        if self.writes and context.window is not None and not bpy.app.background and folders.is_outside(context.scene):
            return confirm_folder_first(self)
        return self.begin(context)

    def begin(self, context):
        return self.execute(context)

    def execute(self, context):
        manager = context.window_manager
        manager.progress_begin(0, 100)
        try:
            told = self.work(context, lambda part: manager.progress_update(int(100 * part)))
        except (BakeError, LibraryError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except MemoryError:
            self.report({"ERROR"}, "There is not enough memory for this.")
            return {"CANCELLED"}
        finally:
            manager.progress_end()
        for sentence in told:
            remark = isinstance(sentence, results.Remark)
            self.report({"INFO"} if remark else {"WARNING"}, sentence)
        return {"FINISHED"}


class _MakesResult(_ResultOperator):
    format: EnumProperty(name="Format", items=FORMATS, default="PC2", description="Format of the result")
    relative: BoolProperty(
        name="Relative Keys",
        default=False,
        description="One relative shape key for each frame, as FBX needs, instead of absolute ones, which play faster",
    )
    reimport: BoolProperty(
        name="Play Alembic",
        default=True,
        description="The object itself plays the Alembic file, through a Mesh Sequence Cache; "
        "otherwise the file is written with all modifiers and the object plays its "
        "point cache",
    )

    def choices(self):
        return {"relative": self.relative, "reimport": self.reimport}

    def check_format(self):
        if self.format == "ALEMBIC" and not compat.has_alembic():
            raise BakeError(alembic.NO_ALEMBIC)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "format")
        if self.format == "SHAPE_KEYS":
            layout.prop(self, "relative")
        elif self.format == "ALEMBIC":
            layout.prop(self, "reimport")
        self.draw_more(layout)

    def draw_more(self, layout):
        pass


class PLIANT_OT_make_result(_MakesResult, bpy.types.Operator):
    """Show the bake on the object in another format, without simulating again"""

    bl_idname = "pliant.make_result"
    bl_label = "Make Result"

    @classmethod
    def description(cls, _context, properties):
        return (
            next(text for name, _, text in FORMATS if name == properties.format)
            + ". From the bake, without simulating again"
        )

    target: StringProperty(
        name="Object", options={"SKIP_SAVE"}, description="Object that shows the bake; empty: the active one"
    )
    level: IntProperty(
        name="Level",
        default=0,
        min=0,
        max=15,
        description="Level of clusters by which particles are numbered; 0 is the finest",
    )
    as_points: BoolProperty(
        name="Point Cloud",
        default=True,
        description="Make the particles a point cloud, which renders as balls; off: vertices",
    )

    rigid: BoolProperty(
        name="Rigid Bodies",
        default=False,
        description="Make fragments rigid bodies of Blender's when they have settled or the bake has ended",
    )

    @classmethod
    def refusal(cls, context):
        if context.object is None and folders.baked_range(context.scene) is not None:
            return None  # a script may pass the object
        return super().refusal(context)

    def draw_more(self, layout):
        if self.format in ("POINTS", "SURFACE"):
            layout.prop(self, "level")
        if self.format == "POINTS":
            layout.prop(self, "as_points")
        if self.format == "FRAGMENTS":
            layout.prop(self, "rigid")

    # ------------------------------------------------------------ in the background

    def begin(self, context):
        """A broken mesh is cut in the background first; the rest takes little time."""
        obj = context.scene.objects.get(self.target) if self.target else context.object
        if (
            context.window is None
            or bpy.app.background
            or obj is None
            or results.is_bound(obj)
            or self.format in ("POINTS", "SURFACE")
        ):
            return self.execute(context)
        todo = results.to_cut(context.scene, [obj])
        if not todo:
            return self.execute(context)
        self.target = obj.name  # the active object may change before it is finished
        self._cutting = Cutting(todo).start()
        _cuts.append(self._cutting)
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        cutting = self._cutting
        if event.type == "ESC" and event.value == "PRESS":
            cutting.cancel()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if not cutting.ended:
            context.workspace.status_text_set(f"Pliant: {cutting.stage}, {100 * cutting.fraction:.0f} % (Esc: cancel)")
            return {"PASS_THROUGH"}
        self.leave(context)
        if cutting.left:
            self.report({"INFO"}, f"Cutting '{self.target}' was cancelled: nothing was changed.")
            return {"CANCELLED"}
        return self.execute(context)

    def leave(self, context):
        _cuts.clear()
        context.window_manager.event_timer_remove(self._timer)
        for window in context.window_manager.windows:
            window.workspace.status_text_set(None)

    def cancel(self, context):
        """Called by Blender when another file is loaded or the window is closed."""
        self._cutting.cancel()
        self._cutting.wait(runs.WAIT)
        self.leave(context)

    def work(self, context, progress):
        self.check_format()
        obj = context.scene.objects.get(self.target) if self.target else context.object
        if self.target and obj is None:
            raise BakeError(f"There is no object '{self.target}' in the scene.")
        return results.make(
            context.scene,
            obj,
            self.format,
            progress=progress,
            level=self.level,
            as_points=self.as_points,
            rigid=self.rigid,
            **self.choices(),
        )


def _body_names(scene):
    try:
        return [body.name for body in results.open_cache(scene).bodies]
    except BakeError:
        return []


class PLIANT_OT_bind_mesh(_MakesResult, bpy.types.Operator):
    """Make other meshes, such as dense render meshes, follow the bake of a soft body. They must be \
where the body is at the first frame. Select them, and the body last; or select the mesh \
alone and name the body"""

    bl_idname = "pliant.bind_mesh"
    bl_label = "Bind Mesh"

    body: StringProperty(
        name="Body",
        search=lambda self, context, text: _body_names(context.scene),
        description="Soft body to follow; empty: the active object, another selected one, or the only one",
    )

    def draw_more(self, layout):
        layout.prop(self, "body")

    def work(self, context, progress):
        self.check_format()
        targets, body = self.meant(context)
        told = []
        for obj in targets:
            told += results.bind(context.scene, obj, body, self.format, progress=progress, **self.choices())
        return told

    def meant(self, context):
        """The meshes to bind, and the body."""
        active, names = context.object, _body_names(context.scene)
        others = [o for o in context.selected_objects if o.type == "MESH" and o != active and o.name not in names]
        if active.name in names and self.body in ("", active.name):
            if not others:
                raise BakeError(f"Select the meshes that are to follow '{active.name}', too.")
            return others, active.name
        if self.body:
            return [active], self.body
        selected = [o.name for o in context.selected_objects if o.name in names]
        for found in (selected, names):
            if len(found) == 1:
                return [active], found[0]
        listed = ", ".join(f"'{name}'" for name in names)
        raise BakeError(f"Choose the soft body to follow: select it too, or name it ({listed}).")


class PLIANT_OT_refine_stretched(_ResultOperator, bpy.types.Operator):
    """Subdivide the faces of the body's mesh where the bake stretches them, for the next bake. The \
existing bake then no longer fits the mesh"""

    bl_idname = "pliant.refine_stretched"
    bl_label = "Refine Stretched Faces"

    longest: FloatProperty(
        name="Longest",
        default=2.0,
        min=1.1,
        soft_max=5.0,
        max=100.0,
        description="Edges that the bake stretches to more than this many times the rest length of "
        "the edges around them are divided",
    )
    passes: IntProperty(name="Times", default=2, min=1, max=5, description="How often an edge may be halved")

    def work(self, context, progress):
        more = refine.refine(context.scene, context.object, self.longest, self.passes, progress)
        if not more:
            return [results.Remark(f"No edge of '{context.object.name}' is stretched that far: nothing is divided.")]
        return [results.Remark(f"'{context.object.name}' has {more} more vertices: bake again.")]


class PLIANT_OT_remove_result(_ResultOperator, bpy.types.Operator):
    """Restore the object as it was before it showed the bake. The bake is kept"""

    bl_idname = "pliant.remove_result"
    bl_label = "Remove Result"
    writes = False

    @classmethod
    def refusal(cls, context):
        if reason := cls.no_mesh(context):
            return reason
        obj = context.object
        if obj.library is not None:
            return "The object is linked from another file"
        if not results.has_result(obj):
            return "The object shows no bake"
        return None

    def work(self, context, progress):
        results.remove(context.object)
        return []


classes = (PLIANT_OT_make_result, PLIANT_OT_bind_mesh, PLIANT_OT_refine_stretched, PLIANT_OT_remove_result)
register, _unregister = bpy.utils.register_classes_factory(classes)


def unregister():
    for cutting in _cuts:
        cutting.cancel()
        cutting.wait(runs.WAIT)
    _cuts.clear()
    _unregister()
