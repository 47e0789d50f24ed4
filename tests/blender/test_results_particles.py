# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles as an object: positions and attributes equal the frame store's, bit for bit."""

import bpy
import bmesh
import support
import numpy as np
from baked import END, START, Baked, results

solver = support.addon("solver")
Channel = solver.Channel


def cloud_of(obj):
    """The evaluated point cloud of an object, which is an instance of its own in the graph."""
    graph = bpy.context.evaluated_depsgraph_get()
    for instance in graph.object_instances:
        if instance.object.original == obj and instance.object.type == "POINTCLOUD":
            return instance.object.data
        if instance.parent and instance.parent.original == obj and instance.object.type == "POINTCLOUD":
            return instance.object.data
    return None


def pieces(form):
    """Connected parts of a bmesh, as lists of vertices."""
    left, found = set(form.verts), []
    while left:
        piece, edge = [], [left.pop()]
        while edge:
            vertex = edge.pop()
            piece.append(vertex)
            for near in (e.other_vert(vertex) for e in vertex.link_edges):
                if near in left:
                    left.remove(near)
                    edge.append(near)
        found.append(piece)
    return found


def attribute(data, name):
    found = data.attributes[name]
    width = 3 if found.data_type == "FLOAT_VECTOR" else 1
    values = np.empty(width * len(found.data), np.int32 if found.data_type == "INT" else np.float32)
    found.data.foreach_get("vector" if width == 3 else "value", values)
    return values.reshape(-1, 3) if width == 3 else values


class Particles(Baked):
    def check(self, data_of, body):
        changed = {"velocity": set(), "stretch": set(), "position": set()}
        with self.cache.open_store() as store:
            for frame in range(START, END + 1):
                self.scene.frame_set(frame)
                data = data_of()
                wanted = {
                    "position": store.read(body.index, frame, Channel.POSITION, origin=self.cache.origin),
                    "velocity": store.read(body.index, frame, Channel.VELOCITY),
                    "stretch": store.read(body.index, frame, Channel.STRETCH),
                    "plastic_strain": store.read(body.index, frame, Channel.PLASTIC_STRAIN),
                    "renewed": store.read(body.index, frame, Channel.RENEWED),
                    "cluster": store.read(body.index, frame, Channel.NEAREST_CLUSTER),
                }
                gradients = store.read(body.index, frame, Channel.DEFORMATION).reshape(-1, 3, 3)
                for axis, letter in enumerate("xyz"):
                    wanted[f"deformation_{letter}"] = gradients[:, :, axis]
                for name, values in wanted.items():
                    np.testing.assert_array_equal(attribute(data, name), values, f"{name} {frame}")
                    if name in changed:
                        changed[name].add(values.tobytes())
        for name, seen in changed.items():
            self.assertGreater(len(seen), 5, f"{name} never changes: the test would see nothing")

    def test_vertices_have_all_attributes(self):
        for name in ("Plain", "Odd"):
            self.make(name, "POINTS", as_points=False)
            obj = self.object(f"{name} Particles")
            self.check(lambda: obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data, self.cache.body(name))
            self.assertEqual(set(attribute(obj.data, "level")), {0})

    def test_a_point_cloud_has_them_too(self):
        self.make("Plain", "POINTS")
        obj = self.object("Plain Particles")
        self.check(lambda: cloud_of(obj), self.cache.body("Plain"))
        radius = attribute(cloud_of(obj), "radius")
        self.assertTrue((radius > 0.01).all() and (radius < 0.5).all())

    def test_a_mesh_about_the_particles(self):
        """Closed, as large as the body, with the body's material, and it follows the bake."""
        obj = self.object("Plain")
        obj.data.materials.append(bpy.data.materials.new("Paint"))
        self.make("Plain", "SURFACE")
        made = self.object("Plain Particles")
        seen = []
        for frame in (START, END):
            self.scene.frame_set(frame)
            mesh = made.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
            form = bmesh.new()
            form.from_mesh(mesh)
            self.assertTrue(all(edge.is_manifold for edge in form.edges))
            seen.append((form.calc_volume(), len(form.verts), attribute(mesh, "position").mean(0)))
            self.assertEqual([m.name for m in mesh.materials if m], ["Paint"])
            self.assertEqual(attribute(mesh, "velocity").any(), frame == END)
            self.assertEqual(len(attribute(mesh, "plastic_strain")), len(mesh.vertices))
            form.free()
        self.assertGreater(seen[0][1], 500)
        self.assertGreater(np.linalg.norm(seen[1][2] - seen[0][2]), 0.1, "it does not move")
        with self.cache.open_store() as store:
            places = store.read(self.cache.body("Plain").index, END, Channel.POSITION, origin=self.cache.origin)
        np.testing.assert_allclose(seen[1][2], places.mean(0), atol=0.3)

    def test_a_ball_keeps_its_volume_as_a_mesh_of_particles(self):
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=1)
        ball = bpy.context.object
        ball.name = "Ball"
        ball.pliant.role = "BODY"
        ball.pliant.particles.count = 1500
        self.scene.frame_end = START + 1
        bpy.ops.pliant.bake()
        self.make("Ball", "SURFACE")
        self.scene.frame_set(START)
        form = bmesh.new()
        form.from_mesh(self.object("Ball Particles").evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh())
        self.assertAlmostEqual(form.calc_volume() / (4 / 3 * np.pi), 1, delta=0.08)
        self.assertEqual(len(pieces(form)), 1, "there are holes inside")
        form.free()

    def test_it_stands_in_the_world(self):
        obj = self.make("Plain", "POINTS", as_points=False)
        made = self.object("Plain Particles")
        self.scene.frame_set(START)
        graph = bpy.context.evaluated_depsgraph_get()
        places = attribute(made.evaluated_get(graph).data, "position") + np.array(made.matrix_world)[:3, 3]
        corners = np.array(obj.bound_box) @ np.array(obj.matrix_world)[:3, :3].T + np.array(obj.matrix_world)[:3, 3]
        self.assertTrue((places > corners.min(axis=0) - 0.1).all())
        self.assertTrue((places < corners.max(axis=0) + 0.1).all())

    def test_again_replaces_and_remove_leaves_nothing(self):
        kinds = ("objects", "meshes", "node_groups")
        before = [len(getattr(bpy.data, kind)) for kind in kinds]
        self.make("Plain", "POINTS")
        counts = [len(getattr(bpy.data, kind)) for kind in kinds]
        self.make("Plain", "POINTS", as_points=False)
        self.assertEqual([len(getattr(bpy.data, kind)) for kind in kinds], counts)
        self.activate(self.object("Plain Particles"))
        bpy.ops.pliant.remove_result()
        self.assertEqual([len(getattr(bpy.data, kind)) for kind in kinds], before)

    def test_levels_that_are_not_there(self):
        self.activate(self.object("Plain"))
        self.refused("'Plain' has no level 3: the coarsest is 0", bpy.ops.pliant.make_result, format="POINTS", level=3)
        self.assertNotIn("Plain Particles", self.scene.objects)

    def test_coarser_levels(self):
        self.object("Plain").pliant.clusters.levels = 2
        self.object("Plain").pliant.clusters.reduction = 2
        bpy.ops.pliant.bake()
        self.make("Plain", "POINTS", as_points=False, level=1)
        made = self.object("Plain Particles")
        fine = set(attribute(made.data, "cluster"))
        self.assertEqual(set(attribute(made.data, "level")), {1})
        self.make("Plain", "POINTS", as_points=False)
        self.assertGreater(len(set(attribute(self.object("Plain Particles").data, "cluster"))), len(fine))

    def test_plastic_strain_of_a_body_that_flows(self):
        material = self.object("Plain").pliant.material
        material.use_plasticity, material.yield_strain, material.flow = True, 0.0, 50.0
        material.frequency = 2.0
        start = self.object("Plain").pliant.start
        start.angular_velocity = (0, 0, 20)
        bpy.ops.pliant.bake()
        self.cache = support.addon("blender.folders").cache_of(self.scene)
        self.make("Plain", "POINTS", as_points=False)
        made = self.object("Plain Particles")

        def data():
            return made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data

        self.check(data, self.cache.body("Plain"))
        self.scene.frame_set(START)
        self.assertFalse(attribute(data(), "plastic_strain").any())
        self.scene.frame_set(END)
        self.assertGreater(attribute(data(), "plastic_strain").mean(), 0.01)

    def test_particles_that_come_and_go_have_a_radius_only_while_they_are(self):
        material = self.object("Plain").pliant.material
        material.use_plasticity, material.yield_strain, material.flow = True, 0.0, 50.0
        material.frequency, material.use_resample = 2.0, True
        self.object("Plain").pliant.start.angular_velocity = (0, 0, 30)  # thrown out to a disc
        bpy.ops.pliant.bake()
        self.cache = support.addon("blender.folders").cache_of(self.scene)
        self.make("Plain", "POINTS", as_points=False)
        made, body = self.object("Plain Particles"), self.cache.body("Plain")
        seen, masses = [], []
        with self.cache.open_store() as store:
            for frame in (START, END):
                self.scene.frame_set(frame)
                data = made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
                mass = store.read(body.index, frame, Channel.MASS)
                np.testing.assert_array_equal(attribute(data, "radius") > 0, mass > 0)
                seen.append((mass > 0).sum())
                masses.append(mass.sum())
        self.assertGreater(len(made.data.vertices), seen[0])
        self.assertNotEqual(seen[0], seen[1])
        self.assertAlmostEqual(masses[1] / masses[0], 1, places=4)

    def test_they_follow_another_bake(self):
        self.make("Plain", "POINTS", as_points=False)
        self.object("Plain").pliant.particles.count = 120
        bpy.ops.pliant.bake()
        self.cache = support.addon("blender.folders").cache_of(self.scene)
        made = self.object("Plain Particles")
        self.assertNotEqual(len(made.data.vertices), 150)
        self.check(lambda: made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data, self.cache.body("Plain"))

    def test_they_play_after_saving_elsewhere(self):
        self.make("Plain", "POINTS", as_points=False)
        path = self.folder.parent / "elsewhere" / "saved.blend"
        path.parent.mkdir()
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.open_mainfile(filepath=str(path))
        self.scene = bpy.context.scene
        made = self.object("Plain Particles")
        self.check(lambda: made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data, self.cache.body("Plain"))

    def test_undo(self):
        self.activate(self.object("Plain"))
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.pliant.make_result("EXEC_DEFAULT", True, format="POINTS")
        bpy.ops.ed.undo()
        self.assertNotIn("Plain Particles", bpy.context.scene.objects)
        bpy.ops.ed.redo()
        self.assertIn("Plain Particles", bpy.context.scene.objects)

    def test_other_results_of_particles_are_refused(self):
        self.make("Plain", "POINTS")
        with self.assertRaisesRegex(results.BakeError, "particles of 'Plain'"):
            results.make(self.scene, self.object("Plain Particles"), "PC2")
