# SPDX-License-Identifier: GPL-3.0-or-later
"""What is likely to disappoint, said before the bake, and a floor for what would fall for ever."""
import bpy
from mathutils import Vector

from ..bridge import modifiers, settings
from . import drawing, fitting, operators_roles

FLOOR_SIZE = 20.0  # times the bodies' own


def falls_for_ever(scene):
    """Whether gravity pulls at a body that neither pins nor colliders hold."""
    roles = [obj.pliant.role for obj in scene.objects]
    return "COLLIDER" not in roles and any(settings.gravity(scene)) and any(
        obj.pliant.role == "BODY" and not obj.pliant.start.use_pins for obj in scene.objects)


def of(obj):
    """Sentences on one soft body, without their full stops."""
    found = []
    if fitting.is_coarse(obj):
        found.append("Its edges are too long to bend with it: subdivide the mesh")
    left_out = modifiers.left_out(obj)
    if left_out:
        found.append(f"Simulated without {left_out}: apply it if it is part of the body")
    rig = modifiers.late_rig(obj)
    if rig:
        found.append(rig[0].upper() + rig[1:])
    material = obj.pliant.material
    if material.use_pressure and obj.pliant.fracture.use_fracture:
        found.append("What breaks would leak: no volume is kept")
    elif material.use_pressure and settings.resamples(material):
        found.append("What gets more particles would leak: no volume is kept")
    elif material.use_pressure and not fitting.encloses(obj):
        found.append("The mesh is open: there is no volume to keep. Close its holes, or switch Keep "
                     "Volume off")
    return found


def odd_gravity(scene):
    """A sentence where the unit scale makes another gravity than Earth's of the usual number."""
    metre = settings.metres(scene)
    pull = metre * Vector(settings.gravity(scene)).length
    if metre == 1.0 or pull == 0.0 or .2 < pull / fitting.GRAVITY < 5.0:
        return None
    return f"Gravity is {pull:.3g} m/s² at this unit scale: Earth's is {fitting.GRAVITY / metre:g} " \
           f"in Blender's units (Scene tab)"


def draw(layout, context):
    """Those of the active body, and of the scene."""
    obj = context.object
    if obj.mode != "EDIT":
        for text in of(obj):
            drawing.sentence(layout, text, "INFO", context)
    own = context.scene.pliant
    if gravity := odd_gravity(context.scene):
        drawing.sentence(layout, gravity, "INFO", context)
    if not own.use_contacts and operators_roles.count_bodies(context.scene) > 1:
        drawing.sentence(layout, "Soft bodies pass through each other", "INFO", context)
        layout.prop(own, "use_contacts", toggle=True)
    if falls_for_ever(context.scene):
        row = layout.row(align=True)
        row.label(text="Nothing to land on", icon="INFO")
        row.operator(PLIANT_OT_add_floor.bl_idname, icon="MESH_PLANE")


class PLIANT_OT_add_floor(bpy.types.Operator):
    """Adds a plane below the soft bodies that they land on. It is an object like any other: move or \
tilt it, or make another object a collider instead"""
    bl_idname = "pliant.add_floor"
    bl_label = "Add Floor"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT":
            cls.poll_message_set("Only in object mode")
            return False
        if not operators_roles.count_bodies(context.scene):
            cls.poll_message_set("Make an object a soft body first")
            return False
        return True

    def execute(self, context):
        bodies = [o for o in context.scene.objects if o.pliant.role == "BODY"]
        corners = [o.matrix_world @ Vector(corner) for o in bodies for corner in o.bound_box]
        low, high = (Vector(choose(c[k] for c in corners) for k in range(3)) for choose in (min, max))
        side = max(max(high - low), 1e-3)
        # further down than they are high at most: what stands on the ground stays there
        height = 0.0 if 0 <= low.z < 4 * side else low.z - side
        half = FLOOR_SIZE * side / 2
        mesh = bpy.data.meshes.new("Floor")
        mesh.from_pydata([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [],
                         [(0, 1, 2, 3)])
        floor = bpy.data.objects.new("Floor", mesh)
        floor.location = ((low.x + high.x) / 2, (low.y + high.y) / 2, height)
        context.collection.objects.link(floor)
        floor.pliant.role = "COLLIDER"
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((PLIANT_OT_add_floor,))
