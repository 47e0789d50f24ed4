# SPDX-License-Identifier: GPL-3.0-or-later
"""Refine Stretched Faces divides faces only where the bake stretches them."""

import tempfile
import unittest
from pathlib import Path

import bpy
import bmesh
import support
import numpy as np

modifiers, results = support.addon("blender.modifiers"), support.addon("blender.results.results")


def bar():
    """A long box of square faces, whose right half is drawn to three times its length by pins."""
    form = bmesh.new()
    bmesh.ops.create_cube(form, size=1)
    bmesh.ops.scale(form, verts=form.verts, vec=(2, 0.4, 0.4))
    for _ in range(3):
        bmesh.ops.subdivide_edges(
            form, edges=[e for e in form.edges if e.calc_length() > 0.12], cuts=1, use_grid_fill=True
        )
    mesh = bpy.data.meshes.new("Bar")
    form.to_mesh(mesh)
    form.free()
    obj = bpy.data.objects.new("Bar", mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    mesh.uv_layers.new(name="UVMap")
    held = obj.vertex_groups.new(name="Held")
    for vertex in mesh.vertices:
        if vertex.co.x < 0.05 or vertex.co.x > 0.9:
            held.add([vertex.index], 1, "ADD")
    lattice = obj.modifiers.new("Pull", "HOOK")
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    lattice.object = hook
    lattice.vertex_indices_set([v.index for v in mesh.vertices if v.co.x > 0.9])
    for frame, x in ((1, 0.0), (12, 2.0)):
        hook.location.x = x
        hook.keyframe_insert("location", index=0, frame=frame)
    obj.pliant.role = "BODY"
    support.addon("blender.presets").apply(obj, "Taffy")
    obj.pliant.material.plastic_limit = 0
    obj.pliant.particles.count = 300
    obj.pliant.start.use_pins, obj.pliant.start.pin_group = True, "Held"
    return obj


class Refine(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_end = 12
        self.scene.use_gravity = False
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scene.pliant.folder = str(Path(folder.name) / "cache")
        self.obj = bar()
        bpy.context.view_layer.update()
        bpy.ops.pliant.bake()

    def edges(self):
        mesh = self.obj.data
        at = np.array([v.co for v in mesh.vertices])
        ends = np.array([e.vertices for e in mesh.edges])
        return at[ends].mean(axis=1)[:, 0], np.linalg.norm(at[ends[:, 0]] - at[ends[:, 1]], axis=1)

    def test_where_it_is_stretched_and_nowhere_else(self):
        before = len(self.obj.data.vertices)
        places, lengths = self.edges()
        left = (places < -0.1).sum()
        self.assertEqual(bpy.ops.pliant.refine_stretched(longest=1.6, passes=2), {"FINISHED"})
        self.assertGreater(len(self.obj.data.vertices), before)
        places, _ = self.edges()
        self.assertEqual((places < -0.1).sum(), left)
        self.assertFalse([a.name for a in self.obj.data.attributes if "pliant" in a.name])
        self.assertEqual(len(self.obj.data.uv_layers), 1)
        self.assertIsNone(modifiers.find_playback(self.obj))
        held = self.obj.vertex_groups["Held"].index
        self.assertTrue(any(g.group == held for v in self.obj.data.vertices for g in v.groups))

    def test_the_next_bake_has_shorter_edges(self):
        def longest():
            self.scene.frame_set(12)
            mesh = self.obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            at = np.empty(3 * len(mesh.vertices), np.float32)
            mesh.attributes["position"].data.foreach_get("vector", at)
            ends = np.array([e.vertices for e in mesh.edges])
            at = at.reshape(-1, 3)
            return np.linalg.norm(at[ends[:, 0]] - at[ends[:, 1]], axis=1).max()

        before = longest()
        bpy.ops.pliant.refine_stretched(longest=1.6, passes=2)
        bpy.ops.pliant.bake()
        self.assertLess(longest(), 0.7 * before)

    def test_nothing_to_divide(self):
        before = len(self.obj.data.vertices)
        self.assertEqual(bpy.ops.pliant.refine_stretched(longest=50), {"FINISHED"})
        self.assertEqual(len(self.obj.data.vertices), before)
        self.assertIsNotNone(modifiers.find_playback(self.obj))

    def test_a_mesh_that_others_use(self):
        other = bpy.data.objects.new("Other", self.obj.data)
        self.scene.collection.objects.link(other)
        with self.assertRaisesRegex(RuntimeError, "Other objects use the mesh"):
            bpy.ops.pliant.refine_stretched()

    def test_undo(self):
        before = len(self.obj.data.vertices)
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.pliant.refine_stretched("EXEC_DEFAULT", True, longest=1.6)
        bpy.ops.ed.undo()
        obj = bpy.context.scene.objects["Bar"]
        self.assertEqual(len(obj.data.vertices), before)
        self.assertIsNotNone(modifiers.find_playback(obj))


if __name__ == "__main__":
    unittest.main()
