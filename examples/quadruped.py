# SPDX-License-Identifier: GPL-3.0-or-later
"""A rubber animal lands on its feet, falls over and comes to rest."""

import bpy
import stage

PARTS = [
    ((0, 0, 1.0), 0.62),
    ((0.55, 0, 1.08), 0.55),
    ((-0.55, 0, 1.0), 0.55),
    ((0.95, 0.1, 1.5), 0.42),
    ((1.25, 0.12, 1.4), 0.26),
    ((-0.95, 0, 1.25), 0.2),
    ((-1.15, 0.05, 1.5), 0.16),
]
PARTS += [((x, y, z), 0.26) for x in (-0.6, 0.6) for y in (-0.26, 0.26) for z in (0.2, 0.45, 0.7)]
PARTS += [((0.95, 0.1 + y, 1.88), 0.17) for y in (-0.19, 0.19)]

shot = stage.Shot("quadruped", 250, __doc__)
flesh = bpy.data.metaballs.new("Flesh")
flesh.resolution = flesh.render_resolution = 0.07
for place, radius in PARTS:
    ball = flesh.elements.new()
    ball.co, ball.radius = place, 1.35 * radius
source = bpy.data.objects.new("Flesh", flesh)
shot.scene.collection.objects.link(source)
bpy.context.view_layer.update()
mesh = bpy.data.meshes.new_from_object(source.evaluated_get(bpy.context.evaluated_depsgraph_get()))
bpy.data.objects.remove(source)
animal = bpy.data.objects.new("Quadruped", mesh)
shot.scene.collection.objects.link(animal)
shot.dress(animal, stage.checked((0.72, 0.30, 0.12), (0.86, 0.50, 0.26), 5))
animal.location, animal.rotation_euler = (0, 0, 1.0), (0.42, 0.08, 0.5)
shot.soft(animal, "Rubber", 3000)
shot.floor(friction=0.5)
shot.camera((2.6, -10.5, 4.4), (1.0, -0.3, 0.9), 31)
shot.finish([1, 13, 22, 34, 60, 250])
