# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of broken bodies: one mesh with cracks for the whole shot, in every format."""

import io
import json
import time
import unittest
from contextlib import redirect_stdout
from pathlib import Path

import bpy
import support
import numpy as np
from broken_bar import END, BrokenBar
from mathutils.bvhtree import BVHTree
from test_fracture import bar

results, meshes, folders = (
    support.addon(name) for name in ("blender.results.results", "blender.meshes", "blender.folders")
)
broken, cli, runs = support.addon("blender.results.fractured_mesh"), support.addon("cli"), support.addon("blender.runs")
Channel = support.addon("solver").Channel


def dressed():
    """A bar that breaks, with all that a mesh may carry."""
    obj = bar()
    mesh = obj.data
    obj.location = (0.3, -0.2, 0.5)
    obj.rotation_euler = (0.2, 0.1, 0.4)
    for name in ("Paint", "Inside"):
        bpy.data.materials.new(name)
    mesh.materials.append(bpy.data.materials["Paint"])
    obj.pliant.fracture.interior = bpy.data.materials["Inside"]
    obj.pliant.fracture.toughness, obj.pliant.fracture.detail = 0.08, 2.0
    obj.pliant.fracture.most_pieces = 8
    uv = mesh.uv_layers.new(name="UV")
    corners = np.array([mesh.vertices[loop.vertex_index].co for loop in mesh.loops])
    uv.data.foreach_set("uv", np.ascontiguousarray(corners[:, :2], np.float32).reshape(-1))
    along = mesh.attributes.new("along", "FLOAT", "POINT")
    along.data.foreach_set("value", np.ascontiguousarray(meshes.positions(mesh)[:, 0]))
    for edge in mesh.edges:
        edge.use_seam = (
            abs(mesh.vertices[edge.vertices[0]].co.y - 0.15) < 1e-6
            and abs(mesh.vertices[edge.vertices[1]].co.y - 0.15) < 1e-6
        )
    return obj


def volume_of(points, mesh):
    """Of each piece, by its triangles; the bar is modelled with its faces looking inward."""
    triangles = meshes.triangles(mesh).astype(int)
    piece = broken.values_of(mesh.attributes["piece"], "INT")[triangles[:, 0]]
    a, b, c = (points[triangles[:, k]].astype(np.float64) for k in range(3))
    return np.bincount(np.unique(piece, return_inverse=True)[1], (c * np.cross(b, a)).sum(1) / 6)


class Broken(BrokenBar):
    @classmethod
    def build(cls):
        dressed()

    @classmethod
    def bake(cls):
        assert bpy.ops.pliant.bake() == {"FINISHED"}
        cls.message = runs.last_message[cls.scene.name][1]
        bpy.ops.wm.save_as_mainfile(filepath=cls.blend)

    def shown(self, frame):
        self.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        return meshes.positions(self.obj.evaluated_get(graph).data)

    def rows(self):
        """Where the vertices are in all frames, from the frame store."""
        plain = results.output_of(self.scene, self.obj)
        return np.array(list(results.shown_output(self.scene, self.obj, plain).local()))

    def test_a_bake_cuts_the_mesh(self):
        mesh = self.obj.data
        self.assertTrue(self.obj.pliant.result.is_cut)
        self.assertEqual(self.obj.pliant.result.kind, "PC2")
        self.assertRegex(self.message, r"[2-9]\d* pieces")
        self.assertFalse(mesh.validate())
        inside = broken.values_of(mesh.attributes["inside"], "BOOLEAN")
        birth = broken.values_of(mesh.attributes["birth"], "FLOAT")
        self.assertTrue(inside.any() and not inside.all())
        self.assertGreater(broken.values_of(mesh.attributes["piece"], "INT").max(), 0)
        opened = birth[birth < broken.NEVER]
        self.assertTrue(len(opened) and 1 <= opened.min() and opened.max() < END)
        self.assertGreater(broken.values_of(mesh.attributes["stretch"], "FLOAT").max(), 1.05)
        # every fragment closed: each edge has two faces
        used = np.bincount([loop.edge_index for loop in mesh.loops], minlength=len(mesh.edges))
        self.assertEqual(set(used), {2})

    def stepped(self, when_cutting=lambda run: None):
        """A bake as a window's timer goes on with it; returns the run and its message."""
        run = runs.Run(self.scene)
        runs.add(run)
        seen = []
        try:
            while not run.ended:
                run.step(0.05)
                if run.cutting is not None and not run.ended:
                    when_cutting(run)
                    seen.append((run.fraction, run.text()))
                time.sleep(0.005)
        finally:
            message = runs.end(run)
        return seen, message

    def test_cut_beside_the_window(self):
        """The same mesh as when nobody can wait; progress goes up."""
        cut = meshes.positions(self.obj.data)
        seen, (kind, sentence) = self.stepped()
        self.assertRegex(seen[0][1], "Cutting 'Bar' along its cracks, 0 %")
        parts = [part for part, _ in seen]
        self.assertEqual(parts, sorted(parts))
        self.assertGreater(len(set(parts)), 3)
        self.assertNotIn("not cut", sentence)
        self.assertTrue(self.obj.pliant.result.is_cut)
        np.testing.assert_array_equal(meshes.positions(self.obj.data), cut)

    def test_cancelled_cutting_loses_nothing(self):
        folder = folders.folder_of(self.scene)
        _, (kind, sentence) = self.stepped(lambda run: run.cancel())
        self.assertEqual(kind, "WARNING")
        self.assertIn("Baked frames 1 to 12", sentence)
        self.assertIn("'Bar' is not cut along its cracks", sentence)
        self.assertFalse(self.obj.pliant.result.is_cut)
        self.assertEqual([p.name for p in folder.iterdir() if "broken" in p.name], [])
        self.assertEqual(folders.baked_range(self.scene), (1, END))
        self.assertGreater(np.abs(self.shown(END) - self.shown(1)).max(), 0.01)  # it plays whole
        self.assertEqual(results.make(self.scene, self.obj, "PC2")[0].split(",")[0], "'Bar' is cut along its cracks")

    def test_what_the_mesh_carried_is_there(self):
        mesh, former = self.obj.data, self.obj.pliant.result.mesh
        self.assertEqual([m.name for m in mesh.materials], ["Paint", "Inside"])
        slot = np.array([p.material_index for p in mesh.polygons])
        inside = broken.values_of(mesh.attributes["inside"], "BOOLEAN")
        np.testing.assert_array_equal(slot, inside.astype(int))
        points = meshes.positions(mesh)
        apart = np.abs(points[:, None] - meshes.positions(former)).max(2)
        self.assertLess(apart.min(0).max(), 1e-6)
        corners = meshes._corners(mesh)
        outside = ~np.repeat(inside, [p.loop_total for p in mesh.polygons])
        uv = broken.values_of(mesh.attributes["UV"], "FLOAT2")
        np.testing.assert_allclose(uv[outside], points[corners[outside], :2], atol=1e-5)
        self.assertGreater(np.ptp(uv[~outside], axis=0).min(), 0.1)
        on_surface = np.unique(corners[outside])
        along = broken.values_of(mesh.attributes["along"], "FLOAT")
        np.testing.assert_allclose(along[on_surface], points[on_surface, 0], atol=1e-5)
        seam = np.array([e.use_seam for e in mesh.edges])
        ends = points[broken.edges_of(mesh)]
        np.testing.assert_allclose(ends[seam][:, :, 1], 0.15, atol=1e-6)
        length = np.sqrt(((ends[:, 0] - ends[:, 1]) ** 2).sum(1))
        self.assertAlmostEqual(length[seam].sum(), self.seam_length(former), delta=0.02)
        self.assertEqual([g.name for g in self.obj.vertex_groups], ["Held"])
        held = [v.index for v in mesh.vertices if any(g.weight > 0.99 for g in v.groups)]
        self.assertGreater(np.abs(points[held][:, 0]).min(), 0.9)

    def seam_length(self, mesh):
        ends = meshes.positions(mesh)[broken.edges_of(mesh)]
        length = np.sqrt(((ends[:, 0] - ends[:, 1]) ** 2).sum(1))
        return length[[e.use_seam for e in mesh.edges]].sum()

    def test_whole_before_and_closed_after(self):
        """Both sides are one, to the bit, until the crack's birth; volumes sum to the whole's."""
        mesh, former = self.obj.data, self.obj.pliant.result.mesh
        places = meshes.positions(mesh)
        birth = broken.values_of(mesh.attributes["birth"], "FLOAT")
        _, place = np.unique(places, axis=0, return_inverse=True)
        place = place.reshape(-1)
        rows = self.rows()
        for frame in range(1, END + 1):
            closed = np.flatnonzero(birth >= frame)
            _, first = np.unique(place[closed], return_index=True)
            leader = np.full(place.max() + 1, -1)
            leader[place[closed[first]]] = closed[first]
            np.testing.assert_array_equal(rows[frame - 1][closed], rows[frame - 1][leader[place[closed]]])
        triangles = meshes.triangles(former).astype(int)
        a, b, c = (meshes.positions(former)[triangles[:, k]].astype(np.float64) for k in range(3))
        whole = (c * np.cross(b, a)).sum() / 6
        volumes = volume_of(places, mesh)
        self.assertLess(abs(volumes.sum() / whole - 1), 1e-5)
        self.assertGreater(volumes.min(), 0)
        self.assertGreater(volume_of(rows[-1], mesh).min(), 0)

    def test_every_result_plays_it(self):
        rows, count = self.rows(), len(self.obj.data.vertices)
        motion = np.abs(np.diff(rows, axis=0)).max()
        for kind, options, off in (
            ("PC2", {}, 0),
            ("MDD", {}, 0),
            ("SHAPE_KEYS", {}, 3e-5 * motion),
            ("SHAPE_KEYS", {"relative": True}, 1e-5),
            ("ALEMBIC", {}, 1e-6),
            ("ALEMBIC", {"reimport": False}, 0),
        ):
            with self.subTest(kind=kind, **options):
                told = results.make(self.scene, self.obj, kind, **options)
                self.assertIn("is cut along its cracks", " ".join(told))
                self.assertEqual(len(self.obj.data.vertices), count)
                for frame in (1, 4, END):
                    np.testing.assert_allclose(self.shown(frame), rows[frame - 1], atol=off + 1e-6 * (off > 0))

    def rendered(self, frame):
        """A small picture of the scene, (pixels, 4)."""
        scene, path = self.scene, str(Path(self.files.name) / "shot.png")
        scene.render.engine, scene.cycles.samples, scene.cycles.seed = "CYCLES", 4, 1
        scene.cycles.use_denoising = False
        scene.render.resolution_x, scene.render.resolution_y = 96, 64
        scene.render.filepath, scene.render.image_settings.file_format = path, "PNG"
        scene.frame_set(frame)
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(path, check_existing=False)
        try:
            found = np.empty(96 * 64 * 4, np.float32)
            image.pixels.foreach_get(found)
            return found.reshape(-1, 4)
        finally:
            bpy.data.images.remove(image)

    def test_alembic_read_again_renders_the_same(self):
        """As another program would: the file alone, imported, with its materials inside and out."""
        for name, colour in (("Paint", (0.1, 0.2, 0.8, 1)), ("Inside", (0.9, 0.2, 0.05, 1))):
            bpy.data.materials[name].use_nodes = True
            shader = next(n for n in bpy.data.materials[name].node_tree.nodes if n.type == "BSDF_PRINCIPLED")
            shader.inputs["Base Color"].default_value = colour
        bpy.ops.object.light_add(type="SUN", rotation=(0.5, 0.3, 0))
        bpy.ops.object.camera_add(location=(0.3, -4, 1.8), rotation=(1.25, 0, 0))
        self.scene.camera = bpy.context.object
        results.make(self.scene, self.obj, "ALEMBIC", reimport=False)
        path = folders.folder_of(self.scene) / "00-Bar.broken.abc"
        wanted = {frame: (self.world(self.obj, frame), self.rendered(frame)) for frame in (1, END)}
        self.obj.hide_render = True
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False, set_frame_range=False)
        read = next(o for o in bpy.context.selected_objects if o.type == "MESH" and o != self.obj)
        for modifier in read.modifiers:
            if modifier.type == "MESH_SEQUENCE_CACHE":
                modifier.use_vertex_interpolation = True
        self.assertEqual({m.name for m in read.data.materials}, {"Paint", "Inside"})
        for frame, (places, picture) in wanted.items():
            np.testing.assert_allclose(self.world(read, frame), places, atol=1e-5)
            off = np.abs(self.rendered(frame) - picture)
            self.assertLess(off.mean(), 0.002, frame)
            self.assertLess((off.max(1) > 0.1).mean(), 0.01, frame)
        # and there is something to see: it moves, and its inside shows
        self.assertGreater(np.abs(wanted[1][1] - wanted[END][1]).mean(), 0.01)
        red, _, blue = wanted[END][1][:, :3].T
        self.assertGreater((red > blue + 0.1).sum(), 5)

    def world(self, obj, frame):
        self.scene.frame_set(frame)
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = meshes.positions(shown.data).astype(np.float64)
        matrix = np.array(shown.matrix_world)
        return points @ matrix[:3, :3].T + matrix[:3, 3]

    def test_stretch_at_each_frame(self):
        """Where asked for, in every result that plays in Blender; taken back with it."""
        self.obj.pliant.fracture.use_stretch = True
        before = {name: len(getattr(bpy.data, name)) for name in ("objects", "meshes", "node_groups")}
        plain = results.output_of(self.scene, self.obj)
        wanted = np.array(list(results.shown_output(self.scene, self.obj, plain).carried([Channel.STRETCH])))[:, 0]
        self.assertGreater(np.ptp(wanted, axis=0).max(), 0.05)
        np.testing.assert_allclose(wanted[0], 1, atol=1e-3)
        for kind in ("PC2", "SHAPE_KEYS", "MDD"):
            results.make(self.scene, self.obj, kind)
            most = broken.values_of(self.obj.data.attributes["stretch"], "FLOAT")
            self.assertGreater(most.max(), wanted.max() - 1e-3)
            for frame in (1, 7, END):
                self.scene.frame_set(frame)
                shown = self.obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
                np.testing.assert_array_equal(
                    broken.values_of(shown.attributes["stretch"], "FLOAT"), wanted[frame - 1].astype(np.float32)
                )
        results.remove(self.obj)
        self.assertEqual(
            {name: len(getattr(bpy.data, name)) for name in before}, {**before, "meshes": before["meshes"] - 1}
        )
        self.assertEqual([m.name for m in self.obj.modifiers], [])

    def test_strain_beside_stretch(self):
        """Of a body that flows before it breaks: each vertex has what the material has that it
        follows, on its side of the crack."""
        material = self.obj.pliant.material
        material.use_plasticity, material.yield_strain, material.flow = True, 0.0, 6.0
        self.obj.pliant.fracture.toughness = 0.04
        self.scene.pliant.folder = str(Path(self.files.name) / "flowing")
        material.use_strain_attribute = self.obj.pliant.fracture.use_stretch = True
        bpy.ops.pliant.bake()
        self.assertTrue(self.obj.pliant.result.is_cut)
        output = results.shown_output(self.scene, self.obj, results.output_of(self.scene, self.obj))
        wanted = np.array(list(output.carried([Channel.STRETCH, Channel.PLASTIC_STRAIN, Channel.RENEWED])))
        self.assertGreater(wanted[-1, 1].max(), 0.02)
        for frame in (1, 7, END):
            self.scene.frame_set(frame)
            shown = self.obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            for number, name in enumerate(("stretch", "plastic_strain", "renewed")):
                np.testing.assert_array_equal(
                    broken.values_of(shown.attributes[name], "FLOAT"), wanted[frame - 1, number].astype(np.float32)
                )
        results.remove(self.obj)
        self.assertEqual([m.name for m in self.obj.modifiers], [])
        self.assertNotIn("plastic_strain", self.obj.data.attributes)

    def test_taken_back_it_is_what_it_was(self):
        former = self.obj.pliant.result.mesh
        for kind in ("PC2", "SHAPE_KEYS", "ALEMBIC"):
            results.make(self.scene, self.obj, kind)
            results.remove(self.obj)
            self.assertEqual(self.obj.data, former)
            self.assertFalse(self.obj.pliant.result.is_cut)
            self.assertEqual((len(self.obj.modifiers), self.obj.vertex_groups[0].name), (0, "Held"))
        self.assertEqual([m.name for m in bpy.data.meshes if "Broken" in m.name], [])

    def test_baked_again_it_starts_whole(self):
        self.obj.pliant.fracture.toughness = 9.0
        self.scene.pliant.folder = str(Path(self.files.name) / "again")
        bpy.ops.pliant.bake()
        self.assertEqual(len(self.obj.data.vertices), 68)
        self.assertFalse(self.obj.pliant.result.is_cut)

    def test_refining_is_refused(self):
        with self.assertRaisesRegex(results.BakeError, "cut along its cracks"):
            support.addon("blender.results.refine").refine(self.scene, self.obj)

    def test_other_meshes_break_too_and_mirrored_ones(self):
        dense = self.obj.copy()
        dense.data = self.obj.pliant.result.mesh.copy()
        dense.name, dense.pliant.role = "Dense", "NONE"
        dense.modifiers.clear()
        dense.pliant.result.mesh, dense.pliant.result.is_cut = None, False
        dense.pliant.result.kind = "NONE"
        dense.animation_data_clear()
        dense.scale = (1, 1, 1)
        self.scene.collection.objects.link(dense)
        # the same place in the world through a mirroring matrix
        dense.scale.y = -1
        for vertex in dense.data.vertices:
            vertex.co.y *= -1
        dense.data.flip_normals()
        told = results.bind(self.scene, dense, "Bar")
        self.assertIn("is cut along its cracks", " ".join(told))
        self.assertEqual(len(told), 1, told)
        self.assertGreater(volume_of(meshes.positions(dense.data), dense.data).min(), 0)
        self.assertAlmostEqual(len(dense.data.vertices) / len(self.obj.data.vertices), 1, delta=0.02)

    def test_fragments_are_objects(self):
        """Together they are where the whole mesh is, at every frame, and move as objects do."""
        rows, count = self.rows(), self.pieces()
        world = np.array(self.obj.matrix_world)
        bpy.ops.pliant.make_result(format="FRAGMENTS")
        made = [o for o in self.obj.pliant.result.fragments.objects if o.type == "MESH"]
        self.assertEqual(len(made), count)
        self.assertTrue(self.obj.hide_render and self.obj.hide_get())
        self.assertEqual({o.parent.name for o in made}, {"Bar Fragments"})
        births, numbers = [o["birth"] for o in made], {o["piece"] for o in made}
        self.assertEqual(numbers, set(broken.values_of(self.obj.data.attributes["piece"], "INT")))
        self.assertEqual((len(numbers), min(births)), (count, 1))
        self.assertGreater(max(births), 1)
        self.assertTrue(all(o["came_from"] in numbers or o["came_from"] >= 0 for o in made))
        for frame in (1, 5, END):
            self.scene.frame_set(frame)
            graph, found = bpy.context.evaluated_depsgraph_get(), []
            world = np.array(self.obj.evaluated_get(graph).matrix_world)
            for obj in made:
                evaluated = obj.evaluated_get(graph)
                matrix = np.array(evaluated.matrix_world)
                found.append(meshes.positions(evaluated.data) @ matrix[:3, :3].T + matrix[:3, 3])
            whole = rows[frame - 1] @ world[:3, :3].T + world[:3, 3]
            found, order = np.concatenate(found), np.lexsort(whole.T)
            np.testing.assert_allclose(
                found[np.lexsort(found.round(4).T)].sum(0), whole[order].sum(0), rtol=1e-4, atol=1e-2
            )
            np.testing.assert_allclose([found.min(0), found.max(0)], [whole.min(0), whole.max(0)], atol=2e-5)
        results.remove(self.obj)
        self.assertFalse(self.obj.hide_render or self.obj.hide_get())
        self.assertEqual([o.name for o in bpy.data.objects], ["Bar"])

    def pieces(self):
        return len(np.unique(broken.values_of(self.obj.data.attributes["piece"], "INT")))

    def test_handed_over_they_fall(self):
        """After the bake's last frame fragments are Blender's."""
        self.scene.use_gravity = True
        self.scene.frame_end = END + 8
        results.make(self.scene, self.obj, "FRAGMENTS", rigid=True)
        made = [o for o in self.obj.pliant.result.fragments.objects if o.rigid_body]
        self.assertEqual(len(made), self.pieces())
        heights = []
        for frame in range(1, END + 9):
            self.scene.frame_set(frame)
            graph = bpy.context.evaluated_depsgraph_get()
            heights.append([o.evaluated_get(graph).matrix_world.translation.z for o in made])
        heights = np.array(heights)
        mass = np.array([o.rigid_body.mass for o in made])
        middle = heights @ mass / mass.sum()  # pushes between fragments do not move it
        self.assertLess(np.abs(np.diff(middle[:END])).max(), 0.05)
        np.testing.assert_allclose(np.diff(middle[END + 1 :], 2) * 24**2, -9.81, rtol=0.05)

    def test_debris_is_on_the_cracks(self):
        bpy.ops.pliant.make_result(format="DEBRIS")
        obj = self.scene.objects["Bar Debris"]
        birth = broken.values_of(obj.data.attributes["birth"], "FLOAT")
        self.assertEqual(len(birth), 4000)
        opens = broken.values_of(self.obj.data.attributes["birth"], "FLOAT")
        self.assertTrue(opens.min() <= birth.min() and birth.max() < END)
        inside = broken.values_of(self.obj.data.attributes["inside"], "BOOLEAN")
        faces = [tuple(p.vertices) for p in self.obj.data.polygons if inside[p.index]]
        places = {}
        for frame in (1, 6, END - 2, END - 1, END):
            self.scene.frame_set(frame)
            graph = bpy.context.evaluated_depsgraph_get()
            shown, whole = obj.evaluated_get(graph).data, self.obj.evaluated_get(graph)
            self.assertEqual(len(shown.vertices), int((birth <= frame).sum()))
            tree = BVHTree.FromPolygons([whole.matrix_world @ v.co for v in whole.data.vertices], faces)
            away = [tree.find_nearest(obj.matrix_world @ v.co)[3] for v in shown.vertices]
            self.assertLess(max(away, default=0), 1e-3, frame)
            places[frame] = meshes.positions(shown)
            if frame == END - 1:
                speed = broken.values_of(shown.attributes["velocity"], "FLOAT_VECTOR")
        self.assertEqual(len(places[END - 2]), len(birth))
        went = (places[END] - places[END - 2]) * (self.scene.render.fps / 2)
        np.testing.assert_allclose(np.reshape(speed, (-1, 3)), went, atol=1e-3)
        self.assertGreater(np.abs(went).max(), 0.1)
        with self.assertRaisesRegex(results.BakeError, "is the debris of 'Bar'"):
            results.make(self.scene, obj, "PC2")
        results.remove(obj)
        self.assertNotIn("Bar Debris", bpy.data.objects)

    def test_colours_by_piece(self):
        """One before it breaks, several after."""
        self.scene.pliant.preview_colour_by = "PIECE"
        self.addCleanup(support.addon("preview.session").stop)
        counts = []
        for frame in (1, END):
            self.scene.frame_set(frame)
            bpy.ops.pliant.preview(wait=True)
            colours = broken.values_of(self.obj.data.attributes["Pliant Clusters"], "FLOAT_COLOR")
            counts.append(len(np.unique(colours, axis=0)))
            bpy.ops.pliant.preview()
        self.assertEqual(counts[0], 1)
        self.assertGreater(counts[1], 1)

    def test_command_line(self):
        with redirect_stdout(said := io.StringIO()):
            code = cli.main(
                [
                    "export",
                    "--blend",
                    self.blend,
                    "--format",
                    "mdd",
                    "--to",
                    str(Path(self.files.name) / "to"),
                    "--log-json",
                ]
            )
        self.assertEqual(code, 0, said.getvalue())
        events = [json.loads(line) for line in said.getvalue().splitlines() if line[:1] == "{"]
        self.assertEqual([e["object"] for e in events if e["event"] == "cut"], ["Bar"])
        named = [e["event"] for e in events]
        self.assertLess(named.index("cutting"), named.index("cut"))  # announced before it is done
        self.assertGreaterEqual(events[named.index("cut")]["seconds"], 0)
        file = Path(self.files.name) / "to" / "Bar.mdd"
        frames, points = np.fromfile(file, ">i4", 2)
        self.assertEqual((frames, points), (END, len(bpy.data.objects["Bar"].data.vertices)))


if __name__ == "__main__":
    unittest.main()
