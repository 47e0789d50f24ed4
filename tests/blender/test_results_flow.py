# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake shows of a body that has flowed: its surface turns to the particles near it."""
import tempfile
import unittest
from pathlib import Path

import bpy
import house
import numpy as np
from test_results_refine import bar

results = house.addon("bridge.results")


class Flow(unittest.TestCase):
    def setUp(self):
        self.scene = house.fresh()
        self.scene.frame_end = 24
        self.scene.use_gravity = False
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scene.pliant.folder = str(Path(folder.name) / "cache")
        self.obj = bar()
        hook = bpy.data.objects["Hook"]
        for frame, turns in ((1, 0.0), (12, 2.0), (24, -2.0)):
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
            with cache.open_store() as store, store.skin(
                    body.index, cache.rest(body), origin=cache.origin, rebind=rebind) as skin:
                found[rebind] = np.array([skin.apply(n, origin=cache.origin).vertices
                                          for n in output.frames])
        np.testing.assert_allclose(shown, found[1], atol=1e-5)
        np.testing.assert_array_equal(found[0][:3], found[1][:3])
        self.assertGreater(np.abs(found[0][-1] - found[1][-1]).max(), .01)


if __name__ == "__main__":
    unittest.main()
