# SPDX-License-Identifier: GPL-3.0-or-later
"""Alembic export: positions and velocities come back bit for bit, the scene is unchanged."""

import unittest
from unittest import mock

import bpy
import support
import numpy as np
from baked import END, START, Baked, evaluated, results, space, state_of, stored

alembic = support.addon("blender.results.alembic")
compat = support.addon("blender.compat")


@unittest.skipUnless(compat.has_alembic(), "this Blender was built without Alembic")
class Alembic(Baked):
    def velocity(self, name, frame):
        """What is left of the stored velocities when the object's own motion is taken away."""
        cache, body = self.cache, self.cache.body(name)
        matrix = cache.matrix(body, frame)
        before, after = max(START, frame - 1), min(END, frame + 1)
        rate = (cache.matrix(body, after) - cache.matrix(body, before)) / ((after - before) / cache.fps)
        with cache.open_store() as store:
            with store.skin(body.index, cache.rest(body), origin=cache.origin) as skin:
                moved = skin.apply(frame, origin=cache.origin, velocities=True)
        world = moved.velocities
        if rate.any():
            local = space.mapped(moved.vertices, space.to_object(matrix, cache.origin))
            world = world - space.to_simulation(local, rate, (0, 0, 0))
        return space.vectors_to_local(world, matrix)

    def check_velocities(self, obj, name):
        fastest = 0.0
        for frame in range(START, END + 1):
            self.scene.frame_set(frame)
            wanted = self.velocity(name, frame)
            np.testing.assert_array_equal(evaluated(obj, "velocity"), wanted, f"frame {frame}")
            fastest = max(fastest, np.abs(wanted).max())
        self.assertGreater(fastest, 0.1)

    def test_the_object_plays_the_file(self):
        for name in ("Plain", "Odd"):
            with self.subTest(name=name):
                before = [m.name for m in self.object(name).modifiers]
                obj = self.make(name, "ALEMBIC")
                body = self.cache.body(name)
                modifier = obj.modifiers["Pliant"]
                self.assertEqual(modifier.type, "MESH_SEQUENCE_CACHE")
                self.assertTrue(modifier.use_vertex_interpolation)
                self.assertEqual([m.name for m in obj.modifiers if m.name != "Pliant"], before)
                self.without_refinement(obj)
                self.check_playback(obj, lambda f: stored(self.cache, body, f))
                self.check_velocities(obj, name)

    def test_frame_that_blender_could_not_read_is_an_error(self):
        """Blender shows the mesh as it is where it cannot read a point cache, and exports that."""
        obj = self.make("Plain", "ALEMBIC", reimport=False)
        path = self.cache.folder / f"{self.cache.body('Plain').file_name}.abc"
        before, frames = path.read_bytes(), alembic.pc2.frames
        with mock.patch.object(alembic.pc2, "frames", lambda path: frames(path) * np.float32(1.000001)):
            with self.assertRaisesRegex(results.BakeError, "could not read the point cache of 'Plain'"):
                results.make(self.scene, obj, "ALEMBIC", reimport=False)
        self.assertEqual(path.read_bytes(), before)

    def test_what_goes_on_after_it_still_does(self):
        obj = self.make("Odd", "ALEMBIC")
        self.assertEqual([m.name for m in obj.modifiers], ["Bend", "Pliant", "Refine"])
        self.scene.frame_set(END)
        mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        self.assertGreater(len(mesh.vertices), 3 * len(obj.data.vertices))
        self.assertEqual([layer.name for layer in mesh.uv_layers], ["UVMap"])
        self.assertEqual(mesh.materials[0].name, "Odd paint")
        self.assertIn("half", obj.vertex_groups)

    def test_other_programs_get_the_whole_look(self):
        """Written with all modifiers, imported as a new object by Blender itself."""
        for name in ("Plain", "Odd"):
            obj = self.make(name, "ALEMBIC", reimport=False)
            self.assertEqual((obj.pliant.result.kind, obj.modifiers["Pliant"].type), ("PC2", "MESH_CACHE"))
            known = set(bpy.data.objects)
            path = self.folder / f"{self.cache.body(name).file_name}.abc"
            bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False, set_frame_range=False)
            new = next(o for o in bpy.data.objects if o not in known and o.type == "MESH")
            new.modifiers[0].use_vertex_interpolation = True
            for frame in range(START, END + 1):
                self.scene.frame_set(frame)
                np.testing.assert_array_equal(evaluated(new), evaluated(obj))
                if name == "Plain":
                    np.testing.assert_array_equal(evaluated(new, "velocity"), self.velocity(name, frame))
            here, there = (np.array(o.matrix_world) for o in (obj, new))
            np.testing.assert_allclose(here, there, atol=1e-5)
            self.assertEqual(len(new.data.materials), 1)

    def test_the_scene_is_left_as_it_was(self):
        obj, other = self.activate(self.object("Plain")), self.object("Odd")
        other.select_set(True)
        obj.hide_set(True)
        self.scene.frame_set(5)
        counts = [len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "node_groups")]
        results.make(self.scene, obj, "ALEMBIC", reimport=False)
        self.assertEqual(self.scene.frame_current, 5)
        self.assertTrue(obj.hide_get())
        self.assertTrue(other.select_get())
        self.assertEqual([len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "node_groups")], counts)
        self.assertEqual(
            sorted(p.suffix for p in self.folder.iterdir() if "Plain" in p.name), [".abc", ".pc2", ".rest"]
        )

    def test_objects_that_are_not_rendered(self):
        obj = self.object("Plain")
        collection = bpy.data.collections.new("not rendered")
        self.scene.collection.children.link(collection)
        for other in obj.users_collection:
            other.objects.unlink(obj)
        collection.objects.link(obj)
        for hidden in (obj, collection):
            hidden.hide_render = True
            path = self.folder / f"{self.cache.body('Plain').file_name}.abc"
            self.make("Plain", "ALEMBIC", reimport=False)
            written = path.stat().st_size
            self.make("Plain", "ALEMBIC")
            self.assertGreater(written, 0.9 * path.stat().st_size)
            self.assertTrue(hidden.hide_render)
            self.check_playback(obj, lambda f: stored(self.cache, self.cache.body("Plain"), f))
            hidden.hide_render = False

    def test_remove_gives_the_object_back(self):
        before = state_of(self.object("Odd"))
        obj = self.make("Odd", "ALEMBIC")
        self.make("Odd", "ALEMBIC")  # over the file that is playing
        self.assertEqual(len(bpy.data.cache_files), 1)
        bpy.ops.pliant.remove_result()
        self.assertEqual(state_of(obj), before)
        self.assertEqual(len(bpy.data.cache_files), 0)

    def test_save_and_load(self):
        obj = self.make("Plain", "ALEMBIC")
        path = self.folder / "saved.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.open_mainfile(filepath=str(path))
        self.scene = bpy.context.scene
        obj = self.object("Plain")
        self.check_playback(obj, lambda f: stored(self.cache, self.cache.body("Plain"), f))

    def test_undo_and_redo(self):
        self.activate(self.object("Odd"))
        before = state_of(self.object("Odd"))
        bpy.ops.ed.undo_push(message="before")
        for _ in range(2):  # the second time over a file that plays
            bpy.ops.pliant.make_result("EXEC_DEFAULT", True, format="ALEMBIC")
        made = state_of(self.object("Odd"))
        for step, wanted in (
            (bpy.ops.ed.undo, made),
            (bpy.ops.ed.undo, before),
            (bpy.ops.ed.redo, made),
            (bpy.ops.ed.redo, made),
        ):
            step()
            self.scene = bpy.context.scene
            self.assertEqual(state_of(self.object("Odd")), wanted)
        self.without_refinement(self.object("Odd"))
        self.check_playback(self.object("Odd"), lambda f: stored(self.cache, self.cache.body("Odd"), f))

    def test_failures_leave_nothing_behind(self):
        obj = self.activate(self.object("Plain"))
        counts = [len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "node_groups")]
        path = self.folder / f"{self.cache.body('Plain').file_name}.abc"
        path.mkdir()
        self.refused("is not of this bake", bpy.ops.pliant.make_result, format="ALEMBIC")
        path.rmdir()
        layer = bpy.context.view_layer.layer_collection
        hidden = bpy.data.collections.new("hidden")
        self.scene.collection.children.link(hidden)
        for collection in obj.users_collection:
            collection.objects.unlink(obj)
        hidden.objects.link(obj)
        layer.children["hidden"].hide_viewport = True
        with self.assertRaises(Exception) as caught:
            results.make(self.scene, obj, "ALEMBIC")
        self.assertIn("in a hidden collection", str(caught.exception))
        self.assertEqual([len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "node_groups")], counts)
        self.assertEqual(list(self.folder.glob("*.tmp")), [])
        self.assertEqual(obj.modifiers["Pliant"].type, "MESH_CACHE")

    def test_an_unfinished_file_is_seen(self):
        unfinished = self.folder / "x.abc.tmp"
        for content in (b"", b"Ogawa\0", b"something else"):
            unfinished.write_bytes(content)
            with self.assertRaises(Exception) as caught:
                alembic._check(unfinished, "x.abc")
            self.assertIn("could not be finished", str(caught.exception))


class WithoutAlembic(Baked):
    def test_a_sentence_says_so(self):
        original = compat.has_alembic
        compat.has_alembic = lambda: False
        try:
            self.activate(self.object("Plain"))
            self.refused("built without Alembic", bpy.ops.pliant.make_result, format="ALEMBIC")
        finally:
            compat.has_alembic = original
        self.assertNotIn("Pliant", self.object("Plain").modifiers)
