# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials as a new body has them, on ten figures: none that breaks does so under its own weight, and
those that are hard do not sag."""

import sys
import tempfile
import unittest
from pathlib import Path

import bpy
import support
import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))
import figures

capture, settings = support.addon("blender.capture.capture"), support.addon("blender.settings")
presets = support.addon("blender.presets")
solver = support.addon("solver")
cache_module, job = support.addon("bake.cache"), support.addon("bake.job")

HARD = ("Glass-like", "Ceramic", "Chocolate")
FRAMES = 40
# Taffy sinks for as long as it is watched: a sheet of it is a puddle in the end, which may tear.
SINKS = {"Taffy that Tears": 24}


def body(figure, name="Figure"):
    vertices, triangles = figure()
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata((vertices - [0, 0, vertices[:, 2].min()]).tolist(), [], triangles.tolist())
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    obj.pliant.role = "BODY"
    return obj


class Standing(unittest.TestCase):
    def stand(self, obj, name):
        """Pieces, splits, and how far the figure has sagged, over its size."""
        presets.apply(obj, name)
        obj.pliant.particles.count = 700
        own, scene = obj.pliant, bpy.context.scene
        places = np.array([v.co for v in obj.data.vertices], np.float32)
        triangles = np.array([p.vertices for p in obj.data.polygons], np.uint32)
        with solver.Scene(threads=1, gravity=settings.gravity(scene)) as simulated:
            made = simulated.add_body(
                places, triangles, material=settings.material(own.material, True), **settings.body(own)
            )
            made.set_fracture(**settings.fracture(own.fracture, 1, 24))
            simulated.add_collider(solver.Shape.PLANE, friction=0.5)
            skin = made.skin(places, triangles=triangles)
            for _ in range(SINKS.get(name, FRAMES)):
                simulated.advance(dt=1 / 24, max_substeps=scene.pliant.max_substeps)
            found = made.info
            return found.pieces, found.splits, figures.crumpling(places, skin.apply().vertices)

    def test_nothing_breaks_or_sags_that_only_stands(self):
        support.fresh()
        self.assertEqual(set(presets.BREAKS), {*HARD, "Bread", "Taffy that Tears", "Flesh that Tears"})
        for figure in figures.TEN:
            obj = body(figure)
            for name in presets.BREAKS:
                with self.subTest(figure=figure.__name__, material=name):
                    pieces, splits, sag = self.stand(obj, name)
                    self.assertEqual((pieces, splits), (1, 0))
                    if name in HARD:
                        self.assertLess(sag, 0.01)
            bpy.data.objects.remove(obj)


class Teapot(unittest.TestCase):
    def bake(self, shells=None):
        """Edges over their lengths after a fall of the teapot, from the bake's point cache."""
        scene = support.fresh()
        scene.frame_start, scene.frame_end = 1, 24
        obj = body(figures.teapot, "Teapot")
        obj.data.transform(obj.matrix_world.Scale(1 / 0.249, 4))
        obj.scale = (0.249, 0.249, 0.249)  # not applied
        obj.location.z = 0.5
        obj.pliant.particles.count = 1200
        if shells:
            obj.pliant.particles.shells = shells
        floor = bpy.data.objects.new("Floor", bpy.data.meshes.new("Floor"))
        floor.data.from_pydata([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [], [(0, 1, 2, 3)])
        scene.collection.objects.link(floor)
        floor.pliant.role = "COLLIDER"
        bpy.context.view_layer.update()
        shot = capture.capture_all(scene)
        with tempfile.TemporaryDirectory() as folder:
            cache = cache_module.Cache.create(Path(folder) / "bake", shot)
            work = job.Job(shot, cache)
            work.run()
            self.assertIsNone(work.error)
            output = support.addon("bake.output").Output(cache, cache.bodies[0])
            last = next(output.local([cache.end]))
            baked = support.addon("bake.formats.pc2").frames(cache.pc2_path(cache.bodies[0]))[-1]
            self.assertTrue(np.array_equal(last, baked))  # the store and the point cache agree
            rest, triangles = cache.rest(cache.bodies[0]), shot.bodies[0].triangles
            return figures.stretch(triangles, rest, 0.249 * np.asarray(baked))

    def test_four_shells_are_not_torn(self):
        self.assertLess(self.bake().max(), 1.7)

    def test_four_shells_kept_apart_are_not_torn(self):
        self.assertLess(self.bake("APART").max(), 2.0)
