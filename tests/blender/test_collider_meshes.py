# SPDX-License-Identifier: GPL-3.0-or-later
"""Mesh colliders: which objects become one, what is captured, and contact with bodies."""

import tempfile
import unittest
from pathlib import Path

import bpy
import support
import numpy as np

capture, meshes = support.addon("blender.capture.capture"), support.addon("blender.meshes")
cache, fingerprint, job, plan, pc2 = (
    support.addon(name) for name in ("bake.cache", "bake.fingerprint", "bake.job", "bake.plan", "bake.formats.pc2")
)


def add_body(**place):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, **place)
    obj = bpy.context.object
    obj.name = "Body"
    obj.pliant.role = "BODY"
    obj.pliant.particles.count = 300
    return obj


def add_collider(kind, shape="AUTO", **settings):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**settings)
    obj = bpy.context.object
    obj.name = "Thing"
    obj.pliant.role = "COLLIDER"
    obj.pliant.collider.shape = shape
    return obj


def cut_in_half(obj):
    """Takes away what is above the middle: a bowl."""
    points, faces = meshes.positions(obj.data), [tuple(p.vertices) for p in obj.data.polygons]
    kept = np.array([f for f in faces if len(f) == 4 and points[list(f), 2].max() < 1e-3])
    used, faces = np.unique(kept, return_inverse=True)
    obj.data.clear_geometry()
    obj.data.from_pydata(points[used].tolist(), [], faces.reshape(kept.shape).tolist())


class Meshes(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_start, self.scene.frame_end = 1, 4

    def capture(self):
        bpy.context.view_layer.update()
        return capture.capture_all(bpy.context)

    def refused(self, *words):
        with self.assertRaises(capture.CaptureError) as caught:
            self.capture()
        for word in words:
            self.assertIn(word, str(caught.exception))


class Shapes(Meshes):
    def shape(self, obj):
        shot = self.capture()
        self.assertEqual(shot.colliders[0].name, obj.name)
        return shot.colliders[0].shape.name

    def test_auto_takes_the_mesh_where_no_simple_shape_is_like_it(self):
        add_body()
        for kind, wanted in (
            ("cube", "BOX"),
            ("uv_sphere", "SPHERE"),
            ("torus", "MESH"),
            ("monkey", "SHELL"),
        ):  # her eyes are open
            obj = add_collider(kind)
            self.assertEqual(self.shape(obj), wanted)
            bpy.data.objects.remove(obj)

    def test_auto_takes_a_shell_where_the_mesh_is_open(self):
        add_body()
        bowl = add_collider("uv_sphere", radius=2)
        cut_in_half(bowl)
        self.assertEqual(self.shape(bowl), "SHELL")
        bpy.data.objects.remove(bowl)
        disc = add_collider("circle", radius=1, fill_type="NGON")
        self.assertEqual(self.shape(disc), "SHELL")

    def test_asked_for(self):
        add_body()
        obj = add_collider("cube")
        for shape in ("MESH", "SHELL"):
            obj.pliant.collider.shape = shape
            self.assertEqual(self.shape(obj), shape)
        obj.pliant.collider.shape, obj.pliant.collider.inside_out = "MESH", True
        self.assertEqual(self.shape(obj), "SHELL")

    def test_an_open_solid_is_told(self):
        add_body()
        bowl = add_collider("uv_sphere", "MESH", radius=2)
        cut_in_half(bowl)
        self.assertIn("'Thing' is solid but not closed", " ".join(self.capture().warnings))


class Frames(Meshes):
    def states(self):
        return [frame.colliders[0] for frame in self.capture().frames]

    def test_vertices_are_in_the_world_and_move_with_the_object(self):
        add_body()
        obj = add_collider("torus")
        for frame, x in ((1, 0.0), (4, 3.0)):
            obj.location.x, obj.rotation_euler.z = x, 0.3 * x
            obj.keyframe_insert("location", frame=frame)
            obj.keyframe_insert("rotation_euler", frame=frame)
        obj.scale = (1, -2, 0.5)
        for number, state in enumerate(self.states(), 1):
            self.scene.frame_set(number)
            matrix = np.array(obj.matrix_world)
            wanted = meshes.positions(obj.data) @ matrix[:3, :3].T + matrix[:3, 3]
            np.testing.assert_allclose(state.vertices, wanted, atol=1e-5)

    def test_deforming_meshes_are_read_at_every_frame(self):
        add_body()
        obj = add_collider("grid", "SHELL", x_subdivisions=8, y_subdivisions=8)
        obj.shape_key_add(name="Basis")
        key = obj.shape_key_add(name="Up")
        key.points.foreach_set("co", (meshes.positions(obj.data) + (0, 0, 2)).ravel())
        for frame, value in ((1, 0.0), (4, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
        heights = [float(s.vertices[:, 2].mean()) for s in self.states()]
        self.assertAlmostEqual(heights[0], 0, places=5)
        self.assertAlmostEqual(heights[3], 2, places=5)
        self.assertTrue(0 < heights[1] < heights[2] < 2)

    def test_what_stands_still_is_made_once(self):
        add_body()
        add_collider("torus")
        states = self.states()
        self.assertIs(states[0], states[3])

    def test_curves_with_a_surface(self):
        add_body()
        bpy.ops.curve.primitive_bezier_circle_add()
        bpy.context.object.data.bevel_depth = 0.2
        bpy.context.object.pliant.role = "COLLIDER"
        shot = self.capture()
        self.assertEqual(shot.colliders[0].shape.name, "MESH")
        self.assertGreater(len(shot.frames[0].colliders[0].vertices), 100)

    def show_collection(self, *objects):
        """An empty that shows the objects, which are nowhere else; turned and moving."""
        shown = bpy.data.collections.new("Set")
        for obj in objects:
            for holder in list(obj.users_collection):
                holder.objects.unlink(obj)
            shown.objects.link(obj)
        empty = bpy.data.objects.new("Place", None)
        self.scene.collection.objects.link(empty)
        empty.instance_type, empty.instance_collection = "COLLECTION", shown
        empty.scale, empty.rotation_euler = (1, 1, 2), (0, 0, 0.4)
        for frame, x in ((1, 0.0), (4, 3.0)):
            empty.location = (x, 0, 1)
            empty.keyframe_insert("location", frame=frame)
        empty.pliant.role = "COLLIDER"
        return empty

    def test_what_an_empty_shows_of_a_collection(self):
        body = add_body()
        parts = [add_collider("cube", location=(0, 2, 0)), add_collider("torus")]
        parts[1].scale = (-2, 1, 1)
        for part in parts:
            part.pliant.role = "NONE"
        empty = self.show_collection(*parts, body)
        self.scene.collection.objects.link(body)
        shot = self.capture()
        self.assertEqual([(c.name, c.shape.name) for c in shot.colliders], [("Place", "MESH")])
        for number, frame in enumerate(shot.frames, 1):
            self.scene.frame_set(number)
            wanted = []
            for part in parts:
                matrix = np.array(empty.matrix_world @ part.matrix_basis)
                wanted.append(meshes.positions(part.data) @ matrix[:3, :3].T + matrix[:3, 3])
            found = frame.colliders[0].vertices
            np.testing.assert_allclose(found, np.concatenate(wanted), atol=1e-5)
            corners = found[shot.colliders[0].triangles].astype(np.float64)
            volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
            self.assertGreater(volume.sum() / 6, 17)  # a cube has 16; inside out it takes away
        empty.instance_collection.objects.unlink(parts[0])
        empty.instance_collection.objects.unlink(parts[1])
        self.refused("'Place'", "no faces")

    def test_faces_that_change_are_refused(self):
        add_body()
        obj = add_collider("torus")
        build = obj.modifiers.new("Build", "BUILD")
        build.frame_start, build.frame_duration = 0, 8
        self.refused("'Thing'", "other faces", "frame 2")

    def test_what_has_no_mesh_is_refused(self):
        add_body()
        obj = add_collider("cube", "MESH")
        obj.data.clear_geometry()
        self.refused("'Thing'", "no faces")
        bpy.data.objects.remove(obj)
        bpy.ops.object.empty_add()
        bpy.context.object.pliant.role = "COLLIDER"
        bpy.context.object.pliant.collider.shape = "SHELL"
        self.refused("'Empty'", "no mesh")

    def test_vertices_that_are_no_numbers_are_refused(self):
        add_body()
        obj = add_collider("torus", "SHELL")
        obj.data.vertices[3].co.x = float("nan")
        self.refused("'Thing'", "NaN")


class Fingerprints(Meshes):
    def test_tell_what_has_changed(self):
        add_body()
        obj = add_collider("torus")
        first = fingerprint.fingerprint(self.capture())
        self.assertIsNone(first.difference(fingerprint.fingerprint(self.capture()), 4))
        obj.data.vertices[0].co.z += 0.1
        second = fingerprint.fingerprint(self.capture())
        self.assertEqual(first.difference(second, 4), "the collider 'Thing' at frame 1")
        points, faces = meshes.positions(obj.data), [tuple(p.vertices) for p in obj.data.polygons]
        obj.data.clear_geometry()
        obj.data.from_pydata(points.tolist(), [], faces[1:])
        obj.pliant.collider.shape = "MESH"
        third = fingerprint.fingerprint(self.capture())
        self.assertEqual(second.difference(third, 4), "the faces of the collider 'Thing'")


class Bakes(Meshes):
    def bake(self, folder, frames):
        self.scene.frame_end = frames
        made = plan.make_job(Path(folder) / "cache", self.capture())
        made.run()
        self.assertEqual((made.state, made.error), (job.DONE, None))
        return pc2.frames(made.cache.pc2_path(made.cache.bodies[0]))

    def test_a_ball_stays_in_a_bowl_that_is_lifted(self):
        add_body(radius=0.5, location=(0.3, 0.1, -1))
        bowl = add_collider("uv_sphere", radius=2)
        cut_in_half(bowl)
        bowl.pliant.collider.thickness = 0.02
        for frame, z in ((6, 0.0), (26, 1.0)):
            bowl.location.z = z
            bowl.keyframe_insert("location", frame=frame)
        with tempfile.TemporaryDirectory() as folder:
            found = self.bake(folder, 40)[-1] + (0.3, 0.1, -1)
        self.assertLess(np.linalg.norm(found - (0, 0, 1.0), axis=1).max(), 2.05)
        self.assertGreater(found[:, 2].min(), -1.0)
        self.assertLess(found[:, 2].max(), 1.0)

    def test_a_ball_lies_on_a_solid(self):
        add_body(radius=0.5, location=(0, 0, 0.9))
        thing = add_collider("torus", major_radius=0.35, minor_radius=0.25)
        thing.pliant.collider.friction = 2
        with tempfile.TemporaryDirectory() as folder:
            found = self.bake(folder, 24)[-1] + (0, 0, 0.9)
        self.assertGreater(found[:, 2].min(), -0.3)
        self.assertGreater(found[:, 2].mean(), 0.2)


if __name__ == "__main__":
    unittest.main()
