# SPDX-License-Identifier: GPL-3.0-or-later
"""A baked body that broke as one object for each fragment, and handed over to Blender's rigid bodies.

Each fragment's object moves and turns as the fragment does as a whole, with keyframes; a point cache
has what is left, how it bends. All are in a collection, under an empty with its name; each knows
    piece, came_from  its number in the bake, and that of the piece it broke off
    birth             the frame at which it did; until then it plays as a part of the whole
The body's own object is hidden meanwhile. No fragment needs Pliant to play.
"""

import bpy
import bmesh
import numpy as np

from ...bake import fragments as baked_fragments
from ...bake.errors import BakeError
from ...bake.output import write_pc2
from .. import compat, meshes, modifiers
from . import fractured_mesh

MOST = 2000  # objects: more are of no practical use
SOLID = 0.8  # volume over hull volume below which a fragment collides by its mesh instead of its hull
SHRUNK = 0.96  # scale of a fragment's collision shape


def make(scene, obj, output, former, interior, rigid=False, progress=None):
    """The fragments of a FracturedOutput; former: the object's mesh without cracks. Returns the
    collection."""
    if output.pieces > MOST:
        raise BakeError(f"'{obj.name}' is in {output.pieces} pieces, more than {MOST}: allow fewer.")
    found = baked_fragments.fragments(output)
    stretch, origin = output.stretch(), np.array(output.cache.origin)
    turn = fractured_mesh.is_turned(former, output.matrix(output.first))
    collection = bpy.data.collections.new(f"{obj.name} Fragments")
    scene.collection.children.link(collection)
    root = bpy.data.objects.new(collection.name, None)
    root.empty_display_size = 0.1
    collection.objects.link(root)
    for number, fragment in enumerate(found):
        motion = baked_fragments.rigid_motion(baked_fragments.in_world(output, fragment.vertices))
        part = baked_fragments.part_of(output.broken, fragment)
        name = f"{obj.name} {fragment.piece:03d}"
        mesh = fractured_mesh.build(
            name, former, part, motion.local[0], stretch[fragment.vertices], interior, turn, np.eye(3)
        )
        fractured_mesh.put(mesh, "piece", "INT", "POINT", np.full(len(mesh.vertices), fragment.piece))
        made = bpy.data.objects.new(name, mesh)
        made.parent = root
        collection.objects.link(made)
        fractured_mesh.take_groups(obj, made, mesh, part.surface.point_layers.get(fractured_mesh.GROUPS))
        made["piece"], made["came_from"], made["birth"] = (fragment.piece, fragment.came_from, fragment.birth)
        play(made, output, motion, number, origin)
        if rigid:
            hand_over(scene, made, output, motion, obj.pliant.material.density)
        if progress:
            progress((number + 1) / len(found))
    return collection


def play(obj, output, motion, number, origin):
    """Keyframes of the rigid motion, a point cache of the deformation."""
    obj.rotation_mode = "QUATERNION"
    turns = baked_fragments.quaternions(motion.turn)
    columns = [("location", k, motion.centre[:, k] + origin[k]) for k in range(3)] + [
        ("rotation_quaternion", k, turns[:, k]) for k in range(4)
    ]
    for path, index, values in columns:
        compat.fill_fcurve(compat.new_fcurve(obj, path, index), output.first, values)
    obj.location, obj.rotation_quaternion = motion.centre[0] + origin, turns[0]
    path = output.path(f"piece-{number}.pc2")
    write_pc2(path, motion.local.shape[1], output.first, motion.local.astype(np.float32))
    modifiers.play(obj, path, output.first)


# ---------------------------------------------------------------- rigid bodies


def hand_over(scene, obj, output, motion, density):
    """A rigid body that follows the bake until the fragment has settled or the bake has ended, and
    is then simulated by Blender."""
    if scene.rigidbody_world is None:
        with bpy.context.temp_override(scene=scene):
            bpy.ops.rigidbody.world_add()
    bpy.context.view_layer.update()
    with bpy.context.temp_override(object=obj, active_object=obj, selected_objects=[obj]):
        bpy.ops.rigidbody.object_add()
    body = obj.rigid_body
    space = abs(meshes.signed_volume(obj.data))
    hull = space > SOLID * hull_volume(obj.data)
    body.type, body.mesh_source = "ACTIVE", "BASE"
    body.collision_shape = "CONVEX_HULL" if hull else "MESH"
    body.mass = max(1e-3, density * space)
    body.collision_margin, body.use_margin = 0.0, True
    # fragments fit into each other: the collision shape is smaller than the visible mesh of the
    # point cache, so that they do not burst apart
    obj.data.vertices.foreach_set("co", (SHRUNK * meshes.positions(obj.data)).reshape(-1))
    frame = baked_fragments.settled_frame(motion, output.first, output.cache.fps) or output.last
    for at, follows in ((output.first, True), (frame, False)):
        body.kinematic = follows
        body.keyframe_insert("kinematic", frame=at)


def hull_volume(mesh):
    """Volume of the convex hull."""
    form = bmesh.new()
    try:
        for place in meshes.positions(mesh).tolist():
            form.verts.new(place)
        bmesh.ops.convex_hull(form, input=form.verts)
        return abs(form.calc_volume())
    finally:
        form.free()


# ---------------------------------------------------------------- removing


def remove(collection):
    """Removes the objects, with everything that was made for them."""
    for obj in list(collection.objects):
        mesh = obj.data
        action = obj.animation_data.action if obj.animation_data else None
        bpy.data.objects.remove(obj)
        compat.remove_unused_action(action)
        if mesh is not None and mesh.users == 0:
            bpy.data.meshes.remove(mesh)
    bpy.data.collections.remove(collection)
