# SPDX-License-Identifier: GPL-3.0-or-later
"""A rubber animal lands on its feet, falls over and comes to rest."""
import bpy
import stage

PARTS = [((0, 0, 1.0), .62), ((.55, 0, 1.08), .55), ((-.55, 0, 1.0), .55), ((.95, .1, 1.5), .42),
         ((1.25, .12, 1.4), .26), ((-.95, 0, 1.25), .2), ((-1.15, .05, 1.5), .16)]
PARTS += [((x, y, z), .26) for x in (-.6, .6) for y in (-.26, .26) for z in (.2, .45, .7)]
PARTS += [((.95, .1 + y, 1.88), .17) for y in (-.19, .19)]

shot = stage.Shot("quadruped", 250, __doc__)
flesh = bpy.data.metaballs.new("Flesh")
flesh.resolution = flesh.render_resolution = .07
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
shot.dress(animal, stage.checked((.72, .30, .12), (.86, .50, .26), 5))
animal.location, animal.rotation_euler = (0, 0, 1.0), (.42, .08, .5)
shot.soft(animal, "Rubber", 3000)
shot.floor(friction=.5)
shot.camera((2.6, -10.5, 4.4), (1.0, -.3, .9), 31)
shot.finish([1, 13, 22, 34, 60, 250])
