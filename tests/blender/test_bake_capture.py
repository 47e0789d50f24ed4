# SPDX-License-Identifier: GPL-3.0-or-later
"""Capture of a scene to a Shot, frame by frame; refusals and their sentences."""

import math
import unittest

import bpy
import support
import numpy as np
from mathutils import Matrix

capture, colliders, meshes, modifiers = (
    support.addon(name)
    for name in ("blender.capture.capture", "blender.capture.colliders", "blender.meshes", "blender.modifiers")
)
space, solver = support.addon("bake.transforms"), support.addon("solver")


def add_body(kind="cube", **place):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**place)
    obj = bpy.context.object
    obj.pliant.role = "BODY"
    obj.pliant.particles.count = 150
    return obj


def add_collider(kind, shape="AUTO", **settings):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**settings)
    obj = bpy.context.object
    obj.pliant.role = "COLLIDER"
    obj.pliant.collider.shape = shape
    return obj


def world(obj):
    """The vertices of an object as Blender has them."""
    matrix = np.array(obj.matrix_world)
    return meshes.positions(obj.data) @ matrix[:3, :3].T + matrix[:3, 3]


class Captures(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_start, self.scene.frame_end = 1, 4

    def capture(self, **options):
        bpy.context.view_layer.update()
        return capture.capture_all(bpy.context, **options)

    def refused(self, *words):
        with self.assertRaises(capture.CaptureError) as caught:
            self.capture()
        for word in words:
            self.assertIn(word, str(caught.exception))
        return caught.exception


class Bodies(Captures):
    def test_mesh_is_in_the_world(self):
        obj = add_body("monkey", location=(1, 2, 3), rotation=(0.3, 0.4, 0.5))
        obj.scale = (1, 2, 0.5)
        shot = self.capture()
        np.testing.assert_allclose(shot.bodies[0].vertices, world(obj), atol=1e-5)
        self.assertEqual(shot.bodies[0].name, "Suzanne")
        self.assertEqual([f.number for f in shot.frames], [1, 2, 3, 4])
        self.assertEqual(shot.bodies[0].settings["sample"]["count"], 150)

    def test_negative_scale_keeps_outside_outside(self):
        obj = add_body("ico_sphere")
        for scale in ((1, 1, 1), (-1, 1, 1), (-1, -2, -1)):
            obj.scale = scale
            body = self.capture().bodies[0]
            corners = body.vertices[body.triangles]
            volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
            self.assertGreater(volume, 1)

    def test_far_away_has_an_origin(self):
        obj = add_body(location=(1e5, -5e4, 10))
        shot = self.capture()
        self.assertLess(np.abs(shot.bodies[0].vertices).max(), 200)
        np.testing.assert_allclose(shot.bodies[0].vertices.astype(np.float64) + shot.origin, world(obj), atol=0.02)
        self.assertEqual(self.capture().origin, shot.origin)

    def test_leading_deformers_count_and_generators_do_not(self):
        obj = add_body()
        obj.modifiers.new("Smooth", "SMOOTH").factor = 0.5
        obj.modifiers.new("Fine", "SUBSURF")
        body = self.capture().bodies[0]
        self.assertEqual(len(body.vertices), 8)
        self.assertLess(np.abs(body.vertices).max(), 0.99)  # the cube is smaller
        self.assertTrue(all(m.show_viewport for m in obj.modifiers))

    def test_a_generator_before_the_result_is_refused(self):
        obj = add_body()
        obj.modifiers.new("Fine", "SUBSURF")
        obj.modifiers.new(modifiers.PLAYBACK_NAME, "MESH_CACHE")
        self.assertEqual(modifiers.split(obj), 0)  # it does not even come to that
        self.assertEqual(len(self.capture().bodies[0].vertices), 8)

    def test_frame_and_modifiers_come_back(self):
        obj = add_body()
        obj.modifiers.new("Fine", "SUBSURF")
        hidden = obj.modifiers.new("Hidden", "SUBSURF")
        hidden.show_viewport = False
        self.scene.frame_set(3, subframe=0.25)
        capturing = capture.Capture(self.scene)
        next(capturing)
        self.assertFalse(obj.modifiers["Fine"].show_viewport)
        capturing.release()  # a save, say
        self.assertTrue(obj.modifiers["Fine"].show_viewport)
        self.assertFalse(hidden.show_viewport)
        self.assertEqual((self.scene.frame_current, self.scene.frame_subframe), (3, 0.25))
        self.assertEqual(list(capturing), [2, 3, 4])
        self.assertEqual((self.scene.frame_current, self.scene.frame_subframe), (3, 0.25))
        self.assertTrue(obj.modifiers["Fine"].show_viewport)
        self.assertEqual(len(capturing.shot.frames), 4)

    def test_generator_returns_the_shot(self):
        add_body()

        def through():
            return (yield from capture.capture(self.scene))

        numbers, made = [], through()
        try:
            while True:
                numbers.append(next(made))
        except StopIteration as stop:
            self.assertEqual(len(stop.value.frames), 4)
        self.assertEqual(numbers, [1, 2, 3, 4])

    def test_animated_matrix_and_material(self):
        obj = add_body()
        material = obj.pliant.material
        for frame, x, value in ((1, 0.0, 2.0), (4, 3.0, 8.0)):
            obj.location.x = x
            obj.keyframe_insert("location", frame=frame)
            material.frequency = value
            obj.keyframe_insert("pliant.material.frequency", frame=frame)
            obj.pliant.start.pin_strength = 1 / frame
            obj.keyframe_insert("pliant.start.pin_strength", frame=frame)
        shot = self.capture()
        frames = [f.bodies[0] for f in shot.frames]
        self.assertEqual([round(f.matrix[0, 3], 4) for f in frames][::3], [0, 3])
        self.assertEqual([round(f.material["stiffness"], 4) for f in frames][::3], [2, 8])
        self.assertLess(2.1, frames[1].material["stiffness"])
        self.assertEqual([round(f.pin_strength, 4) for f in frames][::3], [1, 0.25])

    def test_driven_material(self):
        obj = add_body()
        curve = obj.driver_add("pliant.material.damping")
        curve.driver.expression = "frame * 2"
        shot = self.capture()
        self.assertEqual([f.bodies[0].material["damping"] for f in shot.frames], [2, 4, 6, 8])

    def test_plasticity(self):
        obj = add_body()
        material = obj.pliant.material
        elastic = self.capture().frames[0].bodies[0].material
        self.assertEqual(elastic["yield"], float("inf"))
        for frame, on, value in ((1, False, 0.1), (3, True, 0.1), (4, True, 0.4)):
            material.use_plasticity, material.yield_strain = on, value
            obj.keyframe_insert("pliant.material.use_plasticity", frame=frame)
            obj.keyframe_insert("pliant.material.yield_strain", frame=frame)
        material.flow, material.hardening, material.plastic_limit = 7.0, -0.5, 2.0
        material.flow_per_step, material.recluster_condition = True, 1.5
        found = [f.bodies[0].material for f in self.capture().frames]
        self.assertEqual([round(m["yield"], 4) for m in found], [np.inf, np.inf, 0.1, 0.4])
        self.assertEqual(
            [found[0][name] for name in ("flow", "hardening", "plastic_limit", "flow_per_step")], [7, -0.5, 2, 1]
        )
        self.assertEqual([found[0][name] for name in ("recluster", "recluster_condition")], [1, 1.5])
        material.use_recluster = False
        self.assertEqual(self.capture().frames[0].bodies[0].material["recluster"], 0)
        known = {name for name, _ in support.addon("solver._abi").MaterialDesc._fields_}
        self.assertLessEqual(set(found[0]), known)

    def test_particles_are_added_where_it_is_asked_for(self):
        obj = add_body()
        material = obj.pliant.material
        material.use_pressure, material.use_resample = True, True
        elastic = self.capture().frames[0].bodies[0].material
        self.assertEqual((elastic["resample"], elastic["pressure"] > 0), (0, True))
        material.use_plasticity = True
        plastic = self.capture().frames[0].bodies[0].material
        self.assertEqual((plastic["resample"], plastic["pressure"]), (1, 0))
        obj.pliant.fracture.use_fracture = True
        self.assertRaisesRegex(capture.CaptureError, "Resample", self.capture)
        material.use_resample = False
        self.assertEqual(self.capture().frames[0].bodies[0].material["resample"], 0)

    def test_what_cannot_be_plastic_is_told_before_the_bake(self):
        obj = add_body()
        own = obj.pliant
        own.material.goal, own.clusters.levels, own.clusters.level_kind = "QUADRATIC", 2, "INDEPENDENT"
        self.capture()  # elastic, it may
        own.material.use_plasticity = True
        self.assertRaisesRegex(capture.CaptureError, "quadratic goals", self.capture)
        own.material.goal = "RIGID"
        self.assertRaisesRegex(capture.CaptureError, "independent levels", self.capture)
        own.clusters.level_kind = "NESTED"
        self.capture()

    def test_painted_yield(self):
        obj = add_body()
        obj.vertex_groups.new(name="Half").add(range(4), 1.0, "REPLACE")
        paint = obj.pliant.paint
        for name in ("yield", "flow", "hardening"):
            setattr(paint, f"{name}_group", "Half")
            setattr(paint, f"{name}_zero", 0.5)
        factors = self.capture().bodies[0].factors
        for name in ("yield", "flow", "hardening"):
            np.testing.assert_allclose(factors[f"{name}_factor"], [1] * 4 + [0.5] * 4)

    def test_painted_factors_and_pins(self):
        obj = add_body()
        group = obj.vertex_groups.new(name="Top")
        top = [v.index for v in obj.data.vertices if v.co.z > 0]
        group.add(top, 1.0, "REPLACE")
        group.add(top[:1], 0.5, "REPLACE")
        obj.vertex_groups.new(name="Empty")
        paint, start = obj.pliant.paint, obj.pliant.start
        paint.stiffness_group, paint.stiffness_zero, paint.stiffness_one = "Top", 0.2, 2.0
        start.use_pins, start.pin_group, start.pin_frequency = True, "Top", 6.0
        shot = self.capture()
        body = shot.bodies[0]
        wanted = np.zeros(8, np.float32)
        wanted[top], wanted[top[0]] = 1.0, 0.5
        np.testing.assert_allclose(body.pins, wanted)
        np.testing.assert_allclose(body.factors["stiffness_factor"], 0.2 + 1.8 * wanted, rtol=1e-6)
        self.assertTrue(body.pin_exact)
        self.assertIsNone(shot.frames[0].bodies[0].pin_vertices)
        np.testing.assert_allclose(shot.frames[2].bodies[0].pin_vertices, world(obj), atol=1e-6)
        start.pin_group = "Empty"
        self.assertIn("nothing is held", " ".join(self.capture().warnings))
        start.pin_group = "Gone"
        self.refused("no vertex group 'Gone'", obj.name)
        start.pin_group = ""
        self.refused("choose the vertex group")

    def test_pins_follow_an_armature(self):
        obj = add_body()
        rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
        self.scene.collection.objects.link(rig)
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="EDIT")
        bone = rig.data.edit_bones.new("Bone")
        bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
        bpy.ops.object.mode_set(mode="OBJECT")
        obj.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
        obj.modifiers.new("Rig", "ARMATURE").object = rig
        posed = rig.pose.bones["Bone"]
        for frame, z in ((1, 0.0), (4, 1.5)):
            posed.location = (0, z, 0)  # along the bone
            posed.keyframe_insert("location", frame=frame)
        obj.pliant.start.use_pins, obj.pliant.start.pin_group = True, "Bone"
        shot = self.capture()
        moved = shot.frames[3].bodies[0].pin_vertices - shot.bodies[0].vertices
        np.testing.assert_allclose(moved, np.tile((0, 0, 1.5), (8, 1)), atol=1e-5)

    def test_following_until_release(self):
        obj = add_body()
        start = obj.pliant.start
        start.use_follow, start.release_frame = True, 3
        shot = self.capture()
        self.assertEqual(shot.bodies[0].follow_until, 3)
        self.assertEqual([f.bodies[0].pin_vertices is None for f in shot.frames], [True, False, False, True])
        start.release_frame = 1
        self.assertIsNone(self.capture().bodies[0].follow_until)

    def test_quick_takes_fewer_particles(self):
        obj = add_body()
        obj.pliant.particles.count = 5000
        shot = self.capture(quick=0.1)
        self.assertTrue(shot.quick)
        self.assertEqual(shot.bodies[0].settings["sample"]["count"], 500)

    def test_objects_made_by_a_script_need_no_update(self):
        made = add_body().copy()
        made.name = "Made"
        self.scene.collection.objects.link(made)
        self.assertEqual([b.name for b in capture.capture_all(self.scene).bodies], ["Cube", "Made"])

    def test_linked_meshes_are_bodies_of_their_own(self):
        first = add_body(location=(0, 0, 1))
        second = first.copy()
        second.location.x = 5
        self.scene.collection.objects.link(second)
        self.assertIs(first.data, second.data)
        bodies = self.capture().bodies
        self.assertEqual(len(bodies), 2)
        self.assertAlmostEqual(bodies[1].vertices[:, 0].mean() - bodies[0].vertices[:, 0].mean(), 5, places=4)

    def test_gravity_and_frames(self):
        add_body()
        self.scene.gravity = (1, 2, -3)
        self.scene.pliant.use_scene_frames = False
        self.scene.pliant.frame_start, self.scene.pliant.frame_end = 10, 12
        shot = self.capture()
        self.assertEqual((shot.start, shot.end), (10, 12))
        self.assertEqual(shot.frames[0].gravity, (1, 2, -3))
        self.scene.use_gravity = False
        self.assertEqual(self.capture().frames[0].gravity, (0, 0, 0))


class Colliders(Captures):
    def setUp(self):
        super().setUp()
        add_body()

    def place(self, obj):
        shot = self.capture()
        names = [c.name for c in shot.colliders]
        return shot.colliders[names.index(obj.name)], shot.frames[0].colliders[names.index(obj.name)], shot

    def test_shapes_are_guessed(self):
        wanted = {"cube": "BOX", "uv_sphere": "SPHERE", "ico_sphere": "SPHERE", "cylinder": "CYLINDER"}
        for kind, shape in wanted.items():
            collider, _, shot = self.place(add_collider(kind, location=(9, 0, 0)))
            self.assertEqual(collider.shape.name, shape, kind)
            self.assertEqual(shot.warnings, [])

    def test_size_and_place_follow_the_object(self):
        obj = add_collider("cube", size=2, location=(1, 2, 3), rotation=(0, 0, math.pi / 2))
        obj.scale = (1, -2, 3)
        _, state, _ = self.place(obj)
        np.testing.assert_allclose(state.extent, (1, 2, 3), atol=1e-6)
        np.testing.assert_allclose(state.position, (1, 2, 3), atol=1e-6)
        obj.data.transform(Matrix.Translation((1, 0, 0)))
        _, state, _ = self.place(obj)
        np.testing.assert_allclose(state.position, (1, 3, 3), atol=1e-5)

    def test_cylinders_lie_along_any_axis(self):
        obj = add_collider("cylinder", radius=0.5, depth=4)
        for axis in range(3):
            obj.data.transform(Matrix.Rotation(math.pi / 2, 4, "Y" if axis == 0 else "X") if axis < 2 else Matrix())
            collider, state, _ = self.place(obj)
            self.assertEqual(collider.shape.name, "CYLINDER")
            np.testing.assert_allclose(state.extent[:2], (0.5, 2), atol=1e-3)
            corners = np.array(obj.bound_box)
            long = int(np.ptp(corners, axis=0).argmax())
            w, x, y, z = state.rotation
            up = np.array((2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)))
            self.assertEqual(int(np.abs(up).argmax()), long)
            obj.data.transform(Matrix())

    def test_floors_and_plates(self):
        floor, state, _ = self.place(add_collider("plane", size=30, location=(0, 0, -2)))
        self.assertEqual(floor.shape.name, "PLANE")
        self.assertEqual(state.rotation, (1, 0, 0, 0))
        plate, state, _ = self.place(add_collider("plane", size=2, location=(0, 0, -2)))
        self.assertEqual(plate.shape.name, "BOX")
        self.assertAlmostEqual(state.position[2] + state.extent[2], -2, places=5)

    def test_floors_face_where_their_faces_do(self):
        obj = add_collider("plane", size=30)
        obj.data.flip_normals()
        _, state, _ = self.place(obj)
        w, x, y, z = state.rotation
        self.assertAlmostEqual(1 - 2 * (x * x + y * y), -1)
        obj.data.flip_normals()
        obj.scale = (1, 1, 0)  # pressed flat by hand
        _, state, _ = self.place(obj)
        w, x, y, z = state.rotation
        self.assertAlmostEqual(1 - 2 * (x * x + y * y), 1)

    def test_mirrored_floor_faces_where_its_faces_do(self):
        obj = add_collider("plane", size=30)
        obj.scale = (-1, 1, 1)  # Blender shows the same face from below
        _, state, _ = self.place(obj)
        w, x, y, z = state.rotation
        self.assertAlmostEqual(1 - 2 * (x * x + y * y), 1)

    def test_explicit_shapes(self):
        for shape in ("PLANE", "SPHERE", "BOX", "CAPSULE", "CYLINDER"):
            collider, state, _ = self.place(add_collider("cube", shape, scale=(1, 1, 1)))
            self.assertEqual(collider.shape.name, shape)

    def test_what_a_shape_cannot_be_is_told(self):
        obj = add_collider("uv_sphere", "SPHERE")
        obj.scale = (1, 1, 2)
        _, _, shot = self.place(obj)
        self.assertIn("'Sphere' is stretched", " ".join(shot.warnings))

    def test_animated_collider(self):
        obj = add_collider("cube")
        for frame, z in ((1, 0), (4, 3)):
            obj.location.z = z
            obj.keyframe_insert("location", frame=frame)
            obj.pliant.collider.friction = frame / 10
            obj.keyframe_insert("pliant.collider.friction", frame=frame)
        frames = [f.colliders[0] for f in self.capture().frames]
        self.assertAlmostEqual(frames[3].position[2], 3, places=5)
        self.assertAlmostEqual(frames[3].friction, 0.4, places=5)

    def test_empties_and_curves(self):
        bpy.ops.object.empty_add(type="SPHERE", radius=2)
        bpy.context.object.pliant.role = "COLLIDER"
        bpy.ops.curve.primitive_bezier_circle_add()
        bpy.context.object.pliant.role = "COLLIDER"
        bpy.context.object.data.bevel_depth = 0.2
        shot = self.capture()
        at = [c.name for c in shot.colliders].index("Empty")
        self.assertEqual(shot.colliders[at].shape.name, "SPHERE")
        self.assertAlmostEqual(shot.frames[0].colliders[at].extent[0], 2, places=5)

    def test_zero_scale(self):
        obj = add_collider("cube")
        obj.scale = (0, 0, 1)
        self.refused("'Cube.001'", "zero scale")


class Fields(Captures):
    def setUp(self):
        super().setUp()
        add_body()

    def field(self, kind, **settings):
        bpy.ops.object.effector_add(type=kind, location=(1, 2, 3))
        obj = bpy.context.object
        for name, value in settings.items():
            setattr(obj.field, name, value)
        return obj

    def test_parameters_by_frame(self):
        obj = self.field("WIND", flow=0.5)
        for frame, value in ((1, 1.0), (4, 7.0)):
            obj.field.strength = value
            obj.field.keyframe_insert("strength", frame=frame)
        shot = self.capture()
        self.assertEqual(shot.fields[0].kind, solver.FieldKind.WIND)
        self.assertAlmostEqual(shot.frames[3].fields[0]["strength"], 7.0, places=5)
        self.assertEqual(shot.frames[0].fields[0]["matrix"][3::4][:3], (1, 2, 3))
        self.assertEqual(shot.warnings, [])

    def test_every_kind_can_be_made(self):
        for kind in ("FORCE", "WIND", "VORTEX", "HARMONIC", "TURBULENCE", "DRAG"):
            self.field(kind)
        shot = self.capture()
        self.assertEqual(len(shot.fields), 6)
        with solver.Scene() as scene:
            for known, state in zip(shot.fields, shot.frames[0].fields):
                scene.add_field(known.kind, **state)

    def test_what_does_not_act_is_told(self):
        self.field("MAGNET").name = "M"
        bpy.ops.mesh.primitive_cube_add()
        bpy.context.object.name = "P"
        bpy.ops.object.forcefield_toggle()
        bpy.context.object.field.shape = "POINTS"
        self.field("FORCE", noise=0.5).name = "N"
        self.field("WIND").name = "H"
        self.scene.objects["H"].hide_viewport = True
        shot = self.capture()
        told = " ".join(shot.warnings)
        self.assertEqual([f.name for f in shot.fields], ["N"])
        for words in ("'M' is a magnet", "'P' has the shape points", "noise of the force field 'N'", "'H' is hidden"):
            self.assertIn(words, told)
        self.scene.pliant.use_fields = False
        self.assertEqual(self.capture().fields, [])


class Refusals(Captures):
    def test_no_body(self):
        self.refused("no soft body")

    def test_not_a_mesh(self):
        bpy.ops.object.empty_add()
        bpy.context.object.pliant.role = "BODY"
        self.refused("'Empty'", "empty", "only meshes")

    def test_no_faces_and_no_vertices(self):
        obj = bpy.data.objects.new("Thing", bpy.data.meshes.new("Thing"))
        self.scene.collection.objects.link(obj)
        obj.pliant.role = "BODY"
        self.refused("'Thing'", "no vertices")
        obj.data.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
        self.assertEqual(self.refused("'Thing'", "no faces").object, "Thing")

    def test_loose_vertices_are_fine(self):
        obj = add_body()
        obj.data.vertices.add(1)
        obj.data.update()
        self.assertEqual(len(self.capture().bodies[0].vertices), 9)

    def test_nan(self):
        obj = add_body()
        obj.data.vertices[3].co.x = math.nan
        self.refused("'Cube'", "1 vertices that are no numbers")

    def test_zero_scale_and_when(self):
        obj = add_body()
        obj.scale = (1, 1, 0)
        self.refused("'Cube'", "zero scale at frame 1")
        obj.scale = (1, 1, 1)
        obj.keyframe_insert("scale", frame=1)
        obj.scale = (0, 0, 0)
        obj.keyframe_insert("scale", frame=3)
        self.refused("zero scale at frame 3")
        self.assertEqual(self.scene.frame_current, 1)

    def test_hidden(self):
        obj = add_body()
        obj.hide_viewport = True
        self.refused("'Cube'", "hidden in viewports")
        obj.hide_viewport = False
        obj.hide_set(True)  # only not drawn
        self.capture()
        collider = add_collider("cube")
        collider.hide_viewport = True
        self.refused("collider 'Cube.001'", "hidden")

    def test_hidden_collections(self):
        obj = add_body()
        place = bpy.data.collections.new("Place")
        self.scene.collection.children.link(place)
        self.scene.collection.objects.unlink(
            obj
        ) if obj.name in self.scene.collection.objects else obj.users_collection[0].objects.unlink(obj)
        place.objects.link(obj)
        place.hide_viewport = True
        self.refused("hidden in viewports")
        place.hide_viewport = False
        bpy.context.view_layer.layer_collection.children["Place"].exclude = True
        self.refused("hidden in viewports")

    def test_edit_mode(self):
        add_body()
        bpy.ops.object.mode_set(mode="EDIT")
        self.refused("'Cube'", "edit mode")
        bpy.ops.object.mode_set(mode="OBJECT")
        self.capture()

    def test_too_far(self):
        obj = add_body()
        obj.location.x = 1e9
        self.refused("'Cube'", "too far")
        obj.location.x = 0
        obj.data.vertices[0].co.x = 1e12
        self.refused("'Cube'", "too far")

    def test_no_frames(self):
        add_body()
        self.scene.pliant.use_scene_frames = False
        self.scene.pliant.frame_start, self.scene.pliant.frame_end = 5, 4
        self.refused("no frames")

    def test_object_gone_while_capturing(self):
        add_body(location=(0, 0, 1))
        second = add_body(location=(5, 0, 1))
        capturing = capture.Capture(self.scene)
        next(capturing)
        bpy.data.objects.remove(second)
        with self.assertRaisesRegex(capture.CaptureError, "'Cube.001' was removed or renamed"):
            next(capturing)
        self.assertEqual(self.scene.frame_current, 1)


if __name__ == "__main__":
    unittest.main()
