# SPDX-License-Identifier: GPL-3.0-or-later
"""Other meshes that follow a bake, results after another bake, and untrusted caches."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

import bpy
import support
import numpy as np
from baked import (
    END,
    START,
    Baked,
    bake,
    build,
    evaluated,
    folders,
    meshes,
    modifiers,
    results,
    space,
    state_of,
    stored,
)


class OtherMeshes(Baked):
    def dense(self):
        """A denser Suzanne where 'Plain' is, but with another transform, which moves."""
        plain = self.object("Plain")
        self.scene.frame_set(START)
        mesh = plain.data.copy()
        made = bpy.data.objects.new("Dense", mesh)
        self.scene.collection.objects.link(made)
        self.activate(made)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.mesh.subdivide()
        bpy.ops.object.mode_set(mode="OBJECT")
        made.parent = self.object("Carrier")
        made.scale = (2, -1, 0.5)
        bpy.context.view_layer.update()
        # its vertices lie where those of 'Plain' do in the world
        turned = np.linalg.inv(np.array(made.matrix_world)) @ np.array(plain.matrix_world)
        local = meshes.positions(mesh) @ turned[:3, :3].T + turned[:3, 3]
        mesh.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(local, np.float32).reshape(-1))
        mesh.update()
        refine = made.modifiers.new("Refine", "SUBSURF")
        refine.levels = 1
        bpy.context.view_layer.update()
        return made

    def expected(self, obj):
        """The store's skin on the mesh where it is in the first frame, by the object's matrices."""
        matrices = {}
        for frame in range(START, END + 1):
            self.scene.frame_set(frame)
            matrices[frame] = np.array(obj.matrix_world, np.float64)
        rest = space.to_simulation(meshes.positions(obj.data), matrices[START], self.cache.origin)
        body = self.cache.body("Plain")
        return lambda f: stored(self.cache, body, f, rest, matrices[f])

    def test_a_dense_mesh_follows_in_every_format(self):
        obj = self.dense()
        before = state_of(obj)
        expected = self.expected(obj)
        self.scene.frame_set(8)
        for kind in ("PC2", "MDD", "SHAPE_KEYS", "ALEMBIC"):
            if kind == "ALEMBIC" and not support.addon("blender.compat").has_alembic():
                continue
            with self.subTest(kind=kind):
                self.activate(obj)
                bpy.ops.pliant.bind_mesh(body="Plain", format=kind)
                self.assertEqual(self.scene.frame_current, 8)
                self.assertEqual((obj.pliant.result.kind, obj.pliant.result.body), (kind, "Plain"))
                obj.modifiers["Refine"].show_viewport = False
                self.check_playback(obj, expected, 1e-4 if kind == "SHAPE_KEYS" else 0)
                obj.modifiers["Refine"].show_viewport = True
                self.scene.frame_set(8)
        self.make("Dense", "PC2")  # what is bound stays so
        obj.modifiers["Refine"].show_viewport = False
        self.check_playback(obj, expected)
        obj.modifiers["Refine"].show_viewport = True
        bpy.ops.pliant.remove_result()
        self.assertEqual((state_of(obj), obj.pliant.result.body), (before, ""))

    def test_it_follows_when_the_object_moves_differently(self):
        """Only between the first frame and the last."""
        obj = self.dense()
        obj.modifiers.clear()
        self.activate(obj)
        bpy.ops.pliant.bind_mesh(body="Plain")
        for frame, x in ((START, 0.0), (7, 2.0), (END, 0.0)):
            obj.location.x = x
            obj.keyframe_insert("location", frame=frame)
        self.make("Dense", "MDD")
        self.check_playback(obj, self.expected(obj))

    def test_it_lies_on_the_light_mesh(self):
        """Vertices that both meshes have stay together in the world."""
        obj, plain = self.dense(), self.make("Plain", "PC2")
        self.activate(obj)
        bpy.ops.pliant.bind_mesh(body="Plain")
        obj.modifiers["Refine"].show_viewport = False
        count = len(plain.data.vertices)
        for frame in (START, 7, END):
            self.scene.frame_set(frame)
            a, b = (
                (evaluated(o) @ np.array(o.matrix_world)[:3, :3].T + np.array(o.matrix_world)[:3, 3])[:count]
                for o in (plain, obj)
            )
            np.testing.assert_allclose(a, b, atol=2e-5)

    def test_which_body_is_meant(self):
        bpy.ops.mesh.primitive_cube_add()
        cube = bpy.context.object
        self.refused("Choose the soft body to follow", bpy.ops.pliant.bind_mesh)
        self.refused("'Nobody' is not in the bake", bpy.ops.pliant.bind_mesh, body="Nobody")
        self.object("Odd").select_set(True)
        bpy.ops.pliant.bind_mesh()
        self.assertEqual(cube.pliant.result.body, "Odd")
        bpy.ops.pliant.remove_result()
        self.activate(self.object("Odd"))
        self.refused("Select the meshes that are to follow 'Odd'", bpy.ops.pliant.bind_mesh)
        for obj in (cube, self.object("Plain")):
            obj.select_set(True)  # a body is not bound by being selected along
        bpy.ops.pliant.bind_mesh()
        self.assertEqual(cube.pliant.result.body, "Odd")
        self.assertEqual(self.object("Plain").pliant.result.body, "")
        with self.assertRaisesRegex(results.BakeError, "is that body itself"):
            results.bind(self.scene, self.object("Odd"), "Odd")

    def test_meshes_that_cannot_be_bound(self):
        bpy.ops.mesh.primitive_cube_add()
        cube = bpy.context.object
        cube.scale.x = 0
        self.refused("has zero scale", bpy.ops.pliant.bind_mesh, body="Odd")
        cube.scale.x = 1
        cube.data.vertices[0].co.x = float("nan")
        self.refused("no numbers", bpy.ops.pliant.bind_mesh, body="Odd")
        self.assertEqual((cube.pliant.result.body, len(cube.modifiers)), ("", 0))
        self.refused("from the body itself", bpy.ops.pliant.bind_mesh, body="Odd", format="POINTS")
        cube.data.clear_geometry()
        self.refused("has no vertices", bpy.ops.pliant.bind_mesh, body="Odd")

    def test_undo(self):
        self.dense()
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.pliant.bind_mesh("EXEC_DEFAULT", True, body="Plain")
        bpy.ops.ed.undo()
        obj = bpy.context.scene.objects["Dense"]
        self.assertEqual((obj.pliant.result.kind, obj.pliant.result.body), ("NONE", ""))
        self.assertNotIn("Pliant", obj.modifiers)


class AnotherBake(Baked):
    def test_everything_follows_it(self):
        bpy.ops.mesh.primitive_cube_add(location=(1.5, -2, 3))
        cube = bpy.context.object
        bpy.ops.pliant.bind_mesh(body="Plain")
        self.make("Plain", "POINTS")
        self.make("Plain", "SHAPE_KEYS")
        self.make("Odd", "MDD")
        self.object("Plain").pliant.start.velocity = (0, 0, 5)
        self.scene.pliant.output = "MDD"
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
        self.cache = folders.cache_of(self.scene)
        for name in ("Plain", "Odd"):
            obj = self.object(name)
            self.assertEqual(obj.pliant.result.kind, "MDD")
            self.assertIsNone(obj.data.shape_keys)
            self.without_refinement(obj)
            body = self.cache.body(name)
            self.check_playback(obj, lambda f: stored(self.cache, body, f))
        rest = space.to_simulation(meshes.positions(cube.data), np.array(cube.matrix_world), self.cache.origin)
        self.check_playback(
            cube, lambda f: stored(self.cache, self.cache.body("Plain"), f, rest, np.array(cube.matrix_world))
        )

    def test_clear_takes_every_file_along(self):
        bpy.ops.mesh.primitive_cube_add()
        bpy.ops.pliant.bind_mesh(body="Plain", format="MDD")
        self.make("Plain", "POINTS")
        self.make("Odd", "MDD")
        bpy.ops.pliant.clear("EXEC_DEFAULT")
        self.assertFalse(self.folder.exists())
        self.assertNotIn("Plain Particles", self.scene.objects)
        for obj in self.scene.objects:
            self.assertIsNone(obj.type == "MESH" and modifiers.find_playback(obj) or None)

    def test_the_scene_says_what_a_bake_becomes(self):
        kinds = ["SHAPE_KEYS", "MDD", "PC2"]
        if support.addon("blender.compat").has_alembic():
            kinds.insert(1, "ALEMBIC")
        for kind in kinds:
            with self.subTest(kind=kind):
                self.scene.pliant.output = kind
                self.scene.frame_set(6)
                bpy.ops.pliant.bake()
                self.assertEqual(self.scene.frame_current, 6)
                self.cache = folders.cache_of(self.scene)
                obj, body = self.object("Plain"), self.cache.body("Plain")
                self.assertEqual(obj.pliant.result.kind, "NONE" if kind == "PC2" else kind)
                self.check_playback(obj, lambda f: stored(self.cache, body, f), 1e-5 if kind == "SHAPE_KEYS" else 0)


class SaveAs(unittest.TestCase):
    def test_results_go_along(self):
        files = tempfile.TemporaryDirectory()
        self.addCleanup(files.cleanup)
        here, there = Path(files.name) / "here", Path(files.name) / "there" / "deep"
        here.mkdir()
        there.mkdir(parents=True)
        scene = support.fresh()
        build(scene)
        bpy.ops.mesh.primitive_cube_add(location=(1.5, -2, 3))
        bpy.context.object.name = "Bound"
        bpy.ops.wm.save_as_mainfile(filepath=str(here / "a.blend"))
        bpy.ops.pliant.bake()
        results.bind(scene, scene.objects["Bound"], "Plain", "MDD")
        results.make(
            scene, scene.objects["Plain"], "ALEMBIC" if support.addon("blender.compat").has_alembic() else "PC2"
        )
        results.make(scene, scene.objects["Plain"], "POINTS", as_points=False)
        names = ("Bound", "Plain", "Plain Particles")
        seen = {name: self.seen(name) for name in names}
        bpy.ops.wm.save_as_mainfile(filepath=str(there / "b.blend"))
        shutil.rmtree(here)
        self.assertEqual({name: self.seen(name) for name in names}, seen)
        bpy.ops.wm.open_mainfile(filepath=str(there / "b.blend"))
        self.assertEqual({name: self.seen(name) for name in names}, seen)

    def seen(self, name):
        scene = bpy.context.scene
        rows = []
        for frame in (START, 8, END):
            scene.frame_set(frame)
            rows.append(evaluated(scene.objects[name]).tobytes())
        self.assertEqual(len(set(rows)), 3, f"{name} does not move")
        return rows


class OtherFrames(unittest.TestCase):
    """Frames before zero, late ones, and frame rates that are no whole numbers."""

    def test_they_play_bit_for_bit(self):
        for start, rate, base in ((-3, 24, 1.0), (1001, 30, 1.001)):
            with self.subTest(start=start, rate=rate), tempfile.TemporaryDirectory() as folder:
                scene = support.fresh()
                build(scene)
                scene.render.fps, scene.render.fps_base = rate, base
                own = scene.pliant
                own.use_scene_frames, own.frame_start, own.frame_end = False, start, start + 6
                cache = bake(scene, folder)
                obj, body = scene.objects["Odd"], cache.body("Odd")
                obj.modifiers["Refine"].show_viewport = False
                for kind in ("PC2", "MDD", "ALEMBIC"):
                    if kind == "ALEMBIC" and not support.addon("blender.compat").has_alembic():
                        continue
                    results.make(scene, obj, kind)
                    for frame in range(start, start + 7):
                        scene.frame_set(frame)
                        np.testing.assert_array_equal(evaluated(obj), stored(cache, body, frame))


class Strangers(Baked):
    """Names in bake.json lead nowhere, links out of the folder are not followed."""

    def test_names_in_a_cache_are_no_paths(self):
        info = self.folder / "bake.json"
        data = json.loads(info.read_text())
        outside = self.folder.parent
        evil = ["../../x", "/etc/x", "..\\x", "a/../../b", "\0", "x\n", "~/x", "$(x)", "C:\\x"]
        before = {p for p in outside.rglob("*") if self.folder not in p.parents}
        for name in evil:
            data["bodies"][1]["name"] = name
            info.write_text(json.dumps(data))
            obj = self.activate(self.object("Plain"))
            for kind in ("PC2", "MDD", "POINTS"):
                try:
                    results.bind(self.scene, obj, name, kind)
                except results.BakeError:
                    pass
                try:
                    results.make(self.scene, obj, kind)
                except results.BakeError:
                    pass
            results.remove(obj)
        self.assertEqual({p for p in outside.rglob("*") if self.folder not in p.parents}, before)
        self.assertTrue(all(p.is_file() or p.name == "frames" for p in self.folder.iterdir()))

    def test_links_are_not_followed(self):
        victim = self.folder.parent / "victim"
        victim.write_bytes(b"precious")
        stem = self.cache.body("Plain").file_name
        for ending in (
            "pc2",
            "mdd",
            "mdd.tmp",
            "pc2.tmp",
            "particles.pc2",
            "particles.pc2.tmp",
            "values.pc2",
            "abc",
            "abc.tmp",
            "velocity.pc2",
            "velocity.pc2.tmp",
        ):
            path = self.folder / f"{stem}.{ending}"
            path.unlink(missing_ok=True)
            path.symlink_to(victim)
        for kind in ("MDD", "PC2", "POINTS", "SHAPE_KEYS", "ALEMBIC"):
            if kind != "ALEMBIC" or support.addon("blender.compat").has_alembic():
                try:
                    self.make("Plain", kind)
                except RuntimeError as error:
                    self.assertIn("is not of this bake", str(error))
        self.assertEqual(victim.read_bytes(), b"precious")

    def test_a_result_record_of_a_stranger_harms_nothing(self):
        """Values that no operator would have set."""
        obj = self.activate(self.object("Plain"))
        before = state_of(obj)
        result = obj.pliant.result
        for kind in ("PC2", "MDD", "SHAPE_KEYS", "ALEMBIC"):
            result.kind, result.body = kind, "../../nobody"
            added = result.switched.add()
            added.name = "no such modifier"
            bpy.ops.pliant.remove_result()
            self.assertEqual(state_of(obj), before)
