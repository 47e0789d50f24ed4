# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2 and MDD through the Mesh Cache modifier equal the frame store, bit for bit."""

import os
import unittest

import bpy
import support
import numpy as np
from baked import END, START, Baked, bake, evaluated, folders, state_of, stored

pc2, mdd = support.addon("bake.formats.pc2"), support.addon("bake.formats.mdd")


class PointCaches(Baked):
    def test_every_frame_is_the_stores(self):
        for kind, ending in (("PC2", "pc2"), ("MDD", "mdd")):
            for name in ("Plain", "Odd"):
                with self.subTest(kind=kind, name=name):
                    obj = self.make(name, kind)
                    body = self.cache.body(name)
                    modifier = obj.modifiers["Pliant"]
                    self.assertEqual(modifier.cache_format, kind)
                    self.assertTrue(modifier.filepath.endswith("." + ending))
                    self.without_refinement(obj)
                    self.check_playback(obj, lambda frame: stored(self.cache, body, frame))

    def test_modifiers_above_and_below_go_on_working(self):
        obj = self.make("Odd", "PC2")
        self.assertEqual([m.name for m in obj.modifiers], ["Bend", "Pliant", "Refine"])
        self.scene.frame_set(END)
        mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        self.assertGreater(len(mesh.vertices), 3 * len(obj.data.vertices))
        self.assertEqual([layer.name for layer in mesh.uv_layers], ["UVMap"])
        self.assertEqual(mesh.materials[0].name, "Odd paint")

    def test_where_the_object_stands_is_where_the_bake_was(self):
        """Local coordinates with the object's matrix give the simulation's world."""
        obj = self.make("Odd", "PC2")
        self.without_refinement(obj)
        body = self.cache.body("Odd")
        for frame in (START, 7, END):
            self.scene.frame_set(frame)
            matrix = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
            world = evaluated(obj) @ matrix[:3, :3].T + matrix[:3, 3]
            rest, origin = self.cache.rest(body), self.cache.origin
            with self.cache.open_store() as store:
                with store.skin(body.index, rest, origin=origin) as skin:
                    np.testing.assert_allclose(world, skin.apply(frame, origin=(0, 0, 0)).vertices, atol=2e-5)

    def test_a_damaged_file_is_made_again(self):
        path = self.cache.pc2_path(self.cache.body("Plain"))
        whole = path.read_bytes()
        rows = bytearray(whole)
        rows[pc2.HEADER.size + 5] ^= 64
        for damaged in (whole[:-7], whole[:30], bytes(rows), None):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            self.make("Plain", "PC2")
            self.assertEqual(path.read_bytes(), whole)

    def test_an_unfinished_bake_gives_what_is_there(self):
        for path in (self.folder / "frames").iterdir():
            path.unlink()
        (self.folder / "frames").rmdir()
        self.cache = bake(self.scene, self.folder, end=7)
        obj = self.make("Plain", "MDD")
        path = self.folder / f"{self.cache.body('Plain').file_name}.mdd"
        self.assertEqual(mdd.check(path).frames, 5)
        self.scene.frame_set(END)
        np.testing.assert_array_equal(evaluated(obj), stored(self.cache, self.cache.body("Plain"), 7))

    def test_a_renamed_object_is_known_by_its_mesh(self):
        obj = self.object("Plain")
        obj.name = "Other"
        self.make("Other", "PC2")
        self.check_playback(obj, lambda f: stored(self.cache, self.cache.body("Plain"), f))

    def test_remove_gives_the_object_back(self):
        for name in ("Plain", "Odd"):
            before = state_of(self.object(name))
            for kind in ("PC2", "MDD"):
                obj = self.make(name, kind)
                self.assertNotEqual(state_of(obj), before)
                bpy.ops.pliant.remove_result()
                self.assertEqual(state_of(obj), before)
                self.assertEqual(obj.pliant.result.kind, "NONE")

    def test_undo_and_redo(self):
        obj = self.activate(self.object("Odd"))
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.pliant.make_result("EXEC_DEFAULT", True, format="MDD")
        bpy.ops.ed.undo()
        obj = bpy.context.scene.objects["Odd"]
        self.assertEqual((obj.pliant.result.kind, "Pliant" in obj.modifiers), ("NONE", False))
        bpy.ops.ed.redo()
        obj = bpy.context.scene.objects["Odd"]
        self.assertEqual((obj.pliant.result.kind, "Pliant" in obj.modifiers), ("MDD", True))


class Refusals(Baked):
    def test_nothing_baked(self):
        self.scene.pliant.folder = str(self.folder / "empty")
        self.activate(self.object("Plain"))
        self.assertFalse(bpy.ops.pliant.make_result.poll())
        self.refused("Nothing is baked yet", bpy.ops.pliant.make_result)

    def test_no_mesh_selected(self):
        self.activate(self.object("Carrier"))
        self.refused("Select a mesh", bpy.ops.pliant.make_result)
        self.refused("Select a mesh", bpy.ops.pliant.remove_result)
        bpy.context.view_layer.objects.active = None
        self.refused("There is no object 'Nobody'", bpy.ops.pliant.make_result, target="Nobody")

    def test_an_object_that_is_not_in_the_bake(self):
        bpy.ops.mesh.primitive_cube_add()
        self.refused("'Cube' is not in the bake, which has 'Odd', 'Plain'", bpy.ops.pliant.make_result)
        self.refused("shows no bake", bpy.ops.pliant.remove_result)

    def test_topology_changed_since_the_bake(self):
        obj = self.activate(self.object("Plain"))
        obj.data.vertices.add(1)
        self.refused("has been edited since the bake: it had 507 vertices and has 508", bpy.ops.pliant.make_result)
        obj = self.activate(self.object("Odd"))
        obj.data.flip_normals()
        self.refused("its faces differ", bpy.ops.pliant.make_result)
        self.assertNotIn("Pliant", obj.modifiers)

    def test_another_version_and_damaged_descriptions(self):
        info = self.folder / "bake.json"
        text = info.read_text()
        for wrong, sentence in (
            (text.replace('"format": 1', '"format": 99'), "has format 99"),
            (text[: len(text) // 2], "is damaged"),
            ("[]", "is damaged"),
            ("", "is damaged"),
        ):
            info.write_text(wrong)
            self.assertIsNone(folders.baked_range(self.scene))
            with self.assertRaises(Exception) as caught:
                support.addon("blender.results.results").make(self.scene, self.object("Plain"), "PC2")
            self.assertIn(sentence, str(caught.exception))

    def test_a_truncated_store_is_named(self):
        self.cache.pc2_path(self.cache.body("Plain")).unlink()
        frames = sorted((self.folder / "frames").glob("frame-*.plf"))
        frames[-1].write_bytes(frames[-1].read_bytes()[:-9])
        self.activate(self.object("Plain"))
        self.refused("cannot be used", bpy.ops.pliant.make_result)
        self.assertNotIn("Pliant", self.object("Plain").modifiers)
        self.assertEqual(list(self.folder.glob("*.tmp")), [])

    def test_a_full_disk_leaves_the_object_as_it_was(self):
        (self.folder / f"{self.cache.body('Plain').file_name}.mdd").mkdir()
        self.activate(self.object("Plain"))
        before = state_of(self.object("Plain"))
        self.refused("is not of this bake", bpy.ops.pliant.make_result, format="MDD")
        original = os.fsync

        def full(_):
            raise OSError(28, "No space left on device")

        os.fsync = full
        try:
            self.refused("the disk is full", bpy.ops.pliant.make_result, target="Odd", format="MDD")
        finally:
            os.fsync = original
        self.assertEqual(state_of(self.object("Plain")), before)
        self.assertEqual(list(self.folder.glob("*.tmp")), [])

    @unittest.skipUnless(hasattr(os, "geteuid"), "folders have no such modes here")
    def test_a_folder_that_may_not_be_written_to(self):
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        if os.geteuid() == 0:  # root may write everywhere: be nobody for a moment
            self.folder.parent.chmod(0o755)
            os.seteuid(65534)
            self.addCleanup(os.seteuid, 0)
        self.activate(self.object("Plain"))
        self.make("Plain", "PC2")  # which is there
        self.refused("may not be written to", bpy.ops.pliant.make_result, format="MDD")
        self.assertEqual(self.object("Plain").modifiers["Pliant"].cache_format, "PC2")

    def test_edit_mode_and_linked_objects(self):
        self.activate(self.object("Plain"))
        bpy.ops.object.mode_set(mode="EDIT")
        self.refused("Only in object mode", bpy.ops.pliant.make_result)
        bpy.ops.object.mode_set(mode="OBJECT")
        library = self.folder / "library.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(library), copy=True)
        with bpy.data.libraries.load(str(library), link=True) as (_, target):
            target.objects = ["Plain"]
        linked = next(o for o in target.objects if o)
        self.scene.collection.objects.link(linked)
        with self.assertRaises(Exception) as caught:
            support.addon("blender.results.results").make(self.scene, linked, "PC2")
        self.assertIn("linked from another file", str(caught.exception))
