# SPDX-License-Identifier: GPL-3.0-or-later
"""Shape keys of a bake: exact within Blender's rounding; the user's keys and meshes are kept."""

import bpy
import support
import numpy as np
from baked import END, START, Baked, meshes, results, state_of, stored

shapekeys = support.addon("blender.results.shapekeys")


class ShapeKeys(Baked):
    def tolerance(self, body, relative):
        rows = np.array([stored(self.cache, body, f) for f in range(START, END + 1)])
        rounding = 2e-7 * np.abs(rows).max()
        if relative:
            return 3e-6 * np.abs(rows).max()
        return 2e-5 * np.abs(np.diff(rows, axis=0)).max() + rounding

    def test_every_frame_is_the_stores(self):
        for relative in (False, True):
            for name in ("Plain", "Odd"):
                with self.subTest(relative=relative, name=name):
                    obj = self.make(name, "SHAPE_KEYS", relative=relative)
                    self.assertIsNone(obj.modifiers.get("Pliant"))
                    keys = obj.data.shape_keys
                    self.assertEqual((len(keys.key_blocks), keys.use_relative), (END - START + 2, relative))
                    self.without_refinement(obj)
                    body = self.cache.body(name)
                    self.check_playback(obj, lambda f: stored(self.cache, body, f), self.tolerance(body, relative))

    def test_the_ends_are_held(self):
        for relative in (False, True):
            obj = self.make("Plain", "SHAPE_KEYS", relative=relative)
            body = self.cache.body("Plain")
            for outside, edge in ((START - 5, START), (END + 5, END)):
                self.scene.frame_set(outside)
                mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
                np.testing.assert_allclose(meshes.positions(mesh), stored(self.cache, body, edge), atol=1e-5)

    def test_modifiers_before_the_simulation_are_off_and_come_back(self):
        obj = self.object("Odd")
        before = state_of(obj)
        self.make("Odd", "SHAPE_KEYS")
        self.assertEqual(
            [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers],
            [("Bend", False, False), ("Refine", True, True)],
        )
        self.make("Odd", "SHAPE_KEYS", relative=True)  # a second one knows them still
        bpy.ops.pliant.remove_result()
        self.assertEqual(state_of(obj), before)

    def test_remove_gives_the_object_back(self):
        for relative in (False, True):
            obj = self.object("Plain")
            before, actions = state_of(obj), len(bpy.data.actions)
            self.make("Plain", "SHAPE_KEYS", relative=relative)
            bpy.ops.pliant.remove_result()
            self.assertEqual(state_of(obj), before)
            self.assertEqual(len(bpy.data.actions), actions)

    def test_other_results_take_their_place(self):
        obj = self.make("Odd", "SHAPE_KEYS")
        self.make("Odd", "PC2")
        self.assertIsNone(obj.data.shape_keys)
        self.assertEqual([m.name for m in obj.modifiers], ["Bend", "Pliant", "Refine"])
        self.assertTrue(obj.modifiers["Bend"].show_render)
        self.without_refinement(obj)
        self.check_playback(obj, lambda f: stored(self.cache, self.cache.body("Odd"), f))

    def test_the_artists_keys_are_kept(self):
        obj = self.activate(self.object("Plain"))
        obj.shape_key_add(name="Basis")
        smile = obj.shape_key_add(name="Smile")
        smile.points[0].co = (9, 9, 9)
        smile.value = 0.25
        smile.keyframe_insert("value", frame=4)
        before, mesh = state_of(obj), obj.data
        for relative in (False, True):
            told = results.make(self.scene, obj, "SHAPE_KEYS", relative=relative)
            self.assertIn("'Plain' had its 2 shape keys", " ".join(told))
            self.assertNotIn("Smile", obj.data.shape_keys.key_blocks)
            body = self.cache.body("Plain")
            self.check_playback(obj, lambda f: stored(self.cache, body, f), 1e-5)
        count = len(bpy.data.meshes)
        results.remove(obj)
        self.assertEqual((state_of(obj), obj.data), (before, mesh))
        self.assertEqual(tuple(obj.data.shape_keys.key_blocks["Smile"].points[0].co), (9, 9, 9))
        self.assertIsNotNone(obj.data.shape_keys.animation_data.action)
        self.assertEqual(len(bpy.data.meshes), count - 1)

    def test_keys_of_a_former_mesh_survive_saving(self):
        obj = self.activate(self.object("Plain"))
        obj.shape_key_add(name="Basis")
        obj.shape_key_add(name="Smile")
        results.make(self.scene, obj, "SHAPE_KEYS")
        path = self.folder / "saved.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.open_mainfile(filepath=str(path))
        obj = bpy.context.scene.objects["Plain"]
        results.remove(obj)
        self.assertEqual([k.name for k in obj.data.shape_keys.key_blocks], ["Basis", "Smile"])

    def test_keys_added_later_stay(self):
        obj = self.make("Plain", "SHAPE_KEYS")
        obj.shape_key_add(name="Later", from_mix=False)
        bpy.ops.pliant.remove_result()
        self.assertEqual([k.name for k in obj.data.shape_keys.key_blocks], ["Basis", "Later"])
        self.assertTrue(obj.data.shape_keys.use_relative)

    def test_a_mesh_that_others_use_is_left_to_them(self):
        obj = self.activate(self.object("Plain"))
        twin = bpy.data.objects.new("Twin", obj.data)
        self.scene.collection.objects.link(twin)
        told = results.make(self.scene, obj, "SHAPE_KEYS")
        self.assertIn("others use too", " ".join(told))
        self.assertIsNone(twin.data.shape_keys)
        self.assertIsNot(twin.data, obj.data)
        results.remove(obj)
        self.assertEqual(twin.data, obj.data)

    def test_a_linked_mesh_gets_a_copy(self):
        library = self.folder / "library.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(library), copy=True)
        obj = self.activate(self.object("Plain"))
        name = obj.data.name
        with bpy.data.libraries.load(str(library), link=True) as (_, target):
            target.meshes = [name]
        linked = target.meshes[0]
        self.assertIsNotNone(linked.library)
        obj.data = linked
        told = results.make(self.scene, obj, "SHAPE_KEYS")
        self.assertIn("a mesh of another file", " ".join(told))
        self.assertIsNone(obj.data.library)
        results.remove(obj)
        self.assertEqual(obj.data, linked)

    def test_undo_and_redo(self):
        self.activate(self.object("Odd"))
        before = state_of(self.object("Odd"))
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.pliant.make_result("EXEC_DEFAULT", True, format="SHAPE_KEYS")
        made = state_of(self.object("Odd"))
        bpy.ops.ed.undo()
        self.scene = bpy.context.scene
        self.assertEqual(state_of(self.object("Odd")), before)
        bpy.ops.ed.redo()
        self.scene = bpy.context.scene
        self.assertEqual(state_of(self.object("Odd")), made)
        self.activate(self.object("Odd"))
        bpy.ops.pliant.remove_result("EXEC_DEFAULT", True)
        self.assertEqual(state_of(self.object("Odd")), before)
        bpy.ops.ed.undo()
        self.scene = bpy.context.scene
        self.assertEqual(state_of(self.object("Odd")), made)

    def test_many_frames_are_warned_of(self):
        many, shapekeys.MANY = shapekeys.MANY, 5
        try:
            told = results.make(self.scene, self.object("Plain"), "SHAPE_KEYS")
        finally:
            shapekeys.MANY = many
        self.assertIn("10 shape keys take 0 MB", " ".join(told))

    def test_another_bake_starts_from_the_mesh_itself(self):
        obj = self.make("Plain", "SHAPE_KEYS")
        results.before_bake(self.scene)
        self.assertIsNone(obj.data.shape_keys)
