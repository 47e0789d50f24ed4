# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of bodies that have flowed: vertices are bound to nearby particles again."""

import tempfile
import unittest
from pathlib import Path

import bpy
import support
import numpy as np
from test_results_refine import bar

folders, results = support.addon("blender.folders"), support.addon("blender.results.results")
broken, Channel = support.addon("blender.results.fractured_mesh"), support.addon("solver").Channel
END = 24


class Flow(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_end = END
        self.scene.use_gravity = False
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scene.pliant.folder = str(Path(folder.name) / "cache")
        self.obj = bar()
        hook = bpy.data.objects["Hook"]
        for frame, turns in ((1, 0.0), (12, 2.0), (END, -2.0)):
            hook.rotation_euler.x = 2 * np.pi * turns
            hook.keyframe_insert("rotation_euler", index=0, frame=frame)
        bpy.context.view_layer.update()
        bpy.ops.pliant.bake()

    def test_the_baked_surface_is_that_of_the_store(self):
        output = results.output_of(self.scene, self.obj)
        cache, body = output.cache, output.body
        shown = np.array(output.rows())
        found = {}
        for rebind in (0, 1):
            with (
                cache.open_store() as store,
                store.skin(body.index, cache.rest(body), origin=cache.origin, rebind=rebind) as skin,
            ):
                found[rebind] = np.array([skin.apply(n, origin=cache.origin).vertices for n in output.frames])
        np.testing.assert_allclose(shown, found[1], atol=1e-5)
        np.testing.assert_array_equal(found[0][:3], found[1][:3])
        self.assertGreater(np.abs(found[0][-1] - found[1][-1]).max(), 0.01)

    def shown(self, name, frame):
        """An attribute of the object as it is shown, or None."""
        self.scene.frame_set(frame)
        mesh = self.obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        found = mesh.attributes.get(name)
        return found and broken.values_of(found, "FLOAT")

    def wanted(self, channel, frame):
        """The mean of the particles that are there within two spacings of each vertex, the near ones
        counting most; the nearest's where there is none."""
        output = results.output_of(self.scene, self.obj)
        index, origin = output.body.index, output.cache.origin
        with output.cache.open_store() as store:
            there = store.read(index, frame, Channel.MASS) > 0
            values = store.read(index, frame, channel)[there]
            particles = store.read(index, frame, Channel.POSITION, origin=origin)[there]
            reach = 2 * store.body_info(index).spacing
        places = np.array(output.rows())[frame - output.first] - origin  # the object stands at zero
        away = np.linalg.norm(places[:, None] - particles, axis=2)
        kernel = np.maximum(1 - (away / reach) ** 2, 0) ** 2
        alone = np.flatnonzero(kernel.sum(1) < 1e-6)
        kernel[alone, away[alone].argmin(1)] = 1e9
        return kernel @ values / kernel.sum(1)

    def counts(self):
        return {name: len(getattr(bpy.data, name)) for name in ("objects", "meshes", "node_groups")}

    def check_strain(self):
        for name, channel in (("plastic_strain", Channel.PLASTIC_STRAIN), ("renewed", Channel.RENEWED)):
            self.assertFalse(self.shown(name, 1).any())
            for frame in (8, END):
                found = self.shown(name, frame)
                np.testing.assert_allclose(found, self.wanted(channel, frame), atol=1e-4)
            self.assertGreater(np.ptp(found), 0.2, name)
        self.assertGreater(self.shown("plastic_strain", END).max(), 1.2 * self.shown("plastic_strain", 8).max())

    def test_no_strain_where_it_is_not_asked_for(self):
        self.assertIsNone(self.shown("plastic_strain", END))
        self.assertEqual([m.name for m in self.obj.modifiers], ["Pull", "Pliant"])

    def test_strain_at_each_frame(self):
        """Where asked for, in every result that plays in Blender; an attribute of that name that the
        mesh has of its own is there again when it is taken back."""
        before = self.counts()
        self.obj.data.attributes.new("plastic_strain", "FLOAT", "POINT").data.foreach_set(
            "value", np.full(len(self.obj.data.vertices), 7, np.float32)
        )
        self.obj.pliant.material.use_strain_attribute = True
        for kind in ("PC2", "SHAPE_KEYS", "MDD"):
            results.make(self.scene, self.obj, kind)
            self.check_strain()
        results.remove(self.obj)
        self.assertEqual(self.counts(), before)
        self.assertEqual([m.name for m in self.obj.modifiers], ["Pull"])
        self.assertTrue((self.shown("plastic_strain", END) == 7).all())
        self.assertIsNone(self.shown("renewed", END))

    def test_strain_of_the_next_bake(self):
        self.obj.pliant.material.use_strain_attribute = True
        self.obj.pliant.material.use_resample = True
        before = self.counts()
        for _ in range(2):  # made by the bake itself, and once
            bpy.ops.pliant.bake()
            self.check_strain()
            self.assertEqual([m.name for m in self.obj.modifiers], ["Pull", "Pliant", "Pliant Attributes"])
            self.assertEqual(self.counts(), {name: n + 1 for name, n in before.items()})
        self.obj.pliant.material.use_plasticity = False
        bpy.ops.pliant.bake()
        self.assertIsNone(self.shown("plastic_strain", END))
        self.assertEqual(self.counts(), before)

    def test_cleared_with_the_bake(self):
        """Also from shape keys, which play on: the file is gone."""
        self.obj.pliant.material.use_strain_attribute = True
        before = self.counts()
        results.make(self.scene, self.obj, "SHAPE_KEYS")
        self.assertIsNotNone(self.shown("renewed", END))
        folder = folders.folder_of(self.scene)
        self.assertTrue(list(folder.glob("*.attributes.pc2")))
        list(results.clear(self.scene))
        self.assertFalse(folder.exists())
        self.assertIsNone(self.shown("renewed", END))
        self.assertEqual(self.counts(), before)


if __name__ == "__main__":
    unittest.main()
