# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake's particles as an object: a point cloud, or loose vertices, with attributes.

    cluster   the cluster whose centre is nearest, of the level that was asked for (of coarse ones
              that at the start)
    level     that level; 0 is the finest
    velocity  metres a second, in the world's directions
    stretch   how far the material about the particle is drawn out: 1 is at rest
    plastic_strain  how much the material there has flowed since the start: 0 is not at all
    renewed   how much of the particle is in clusters that were made anew since: 0 to 1
    radius    half the distance to neighbours at rest; 0 while there is no such particle, before it is
              divided from another and once it is merged with one
    deformation_x, deformation_y, deformation_z  where the material's deformation takes the axes

Positions come from a PC2 file; what else changes from the positions of a companion (nodes.py).
The object plays in any Blender, with or without Pliant. A second group of nodes can make a mesh of
them, for bodies that flow farther than the faces of their own mesh can follow.
"""

import bpy
import numpy as np

from ... import solver
from ...bake.errors import BakeError
from ...bake.output import write_pc2
from ...solver import Channel
from .. import modifiers
from . import nodes


def object_name(body):
    return f"{body.name} Particles"


SURFACE = "Pliant Surface"  # the modifier that makes a mesh of particles


def make(scene, output, level=0, as_points=True, progress=None, surface=False, material=None):
    """The object of a body's particles, in the scene; one that was there before is replaced.
    surface: nodes make a mesh of them, of that material."""
    body = output.body
    old = next(
        (o for o in scene.objects if o.pliant.result.kind == "POINTS" and o.pliant.result.body == body.name), None
    )
    values = _written(output, level, progress)
    if old is not None:
        nodes.remove_played(old)
    name = object_name(body)
    obj = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    scene.collection.objects.link(obj)
    result = obj.pliant.result
    result.kind, result.body, result.level = "POINTS", body.name, level
    result.values = nodes.companion(f"{body.name} Particle Values", 0)
    _show(obj, output, *values)
    obj.modifiers.new("Pliant Values", "NODES").node_group = nodes.particle_group(
        result.values, len(values[0]), as_points or surface
    )
    if surface:
        obj.modifiers.new(SURFACE, "NODES").node_group = nodes.surface_group(material)
    return obj


def has_surface(obj):
    return obj.modifiers.get(SURFACE) is not None


def fill(obj, output):
    """Has an object that make() gave show another bake of its body."""
    values = _written(output, obj.pliant.result.level, None)
    _show(obj, output, *values)
    group = next((m.node_group for m in obj.modifiers if m.type == "NODES" and m.node_group), None)
    if group is not None:
        nodes.set_particle_count(group, len(values[0]))


def _show(obj, output, rest, clusters):
    """The particles at rest with what never changes, and the files that play."""
    mesh, result = obj.data, obj.pliant.result
    mesh.clear_geometry()
    mesh.vertices.add(len(rest))
    mesh.attributes["position"].data.foreach_set("vector", rest.reshape(-1))
    for name, numbers in (("cluster", clusters), ("level", np.full(len(rest), result.level))):
        attribute = mesh.attributes.get(name) or mesh.attributes.new(name, "INT", "POINT")
        attribute.data.foreach_set("value", np.ascontiguousarray(numbers, np.int32))
    obj.location = output.cache.origin
    modifiers.play(obj, output.path("particles.pc2"), output.first)
    if result.values is not None:
        result.values.data.clear_geometry()
        result.values.data.vertices.add(nodes.PARTS * len(rest))
        modifiers.play(result.values, output.path("values.pc2"), output.first)


def _written(output, level, progress):
    """Writes the files; where the particles are in the first frame, and each one's cluster."""
    rest, clusters = _unchanging(output.cache, output.body, level, output.first)
    _write(
        output,
        rest,
        output.path("particles.pc2"),
        output.path("values.pc2"),
        progress,
        None if level == 0 else clusters,
    )
    return rest, clusters


def _unchanging(cache, body, level, first):
    """Where the particles are in the first frame, and the number of each one's cluster."""
    try:
        with cache.open_store() as store:
            rest = store.read(body.index, first, Channel.POSITION, origin=cache.origin)
            if level == 0:
                return rest, store.read(body.index, first, Channel.NEAREST_CLUSTER)
            with solver.Scene() as scene:
                store.restore(scene)  # frames know the finest level only, checkpoints all
                made = scene.bodies()[body.index]
                levels = made.info.levels
                if level >= levels:
                    raise BakeError(f"'{body.name}' has no level {level}: the coarsest is {levels - 1}.")
                return rest, made.read(Channel.NEAREST_CLUSTER, level)
    except solver.PliantError as error:
        raise BakeError(f"The frames in {cache.store_path} cannot be used: {str(error).rstrip('.')}.") from error


def _write(output, rest, places, values, progress, clusters):
    cache, index, count = output.cache, output.body.index, len(rest)

    def positions():
        for frame in output.frames:
            yield store.read(index, frame, Channel.POSITION, origin=cache.origin)

    def others():
        row = np.zeros((nodes.PARTS, count, 3), np.float32)
        there = store.read(index, output.first, Channel.MASS) > 0
        radius = _radius(rest[there])
        for number, frame in enumerate(output.frames):
            row[1, :, 2] = np.where(store.read(index, frame, Channel.MASS) > 0, radius, 0)
            row[0] = store.read(index, frame, Channel.VELOCITY)
            row[1, :, 0] = store.read(index, frame, Channel.STRETCH)
            row[1, :, 1] = store.read(index, frame, Channel.PLASTIC_STRAIN)
            gradients = store.read(index, frame, Channel.DEFORMATION).reshape(-1, 3, 3)
            row[2:5] = gradients.transpose(2, 0, 1)  # columns
            row[5, :, 0] = store.read(index, frame, Channel.NEAREST_CLUSTER) if clusters is None else clusters
            row[5, :, 1] = store.read(index, frame, Channel.RENEWED)
            yield row.reshape(-1, 3)
            if progress:
                progress((number + 1) / output.count)

    try:
        with cache.open_store() as store:
            write_pc2(places, count, output.first, positions())
            write_pc2(values, nodes.PARTS * count, output.first, others())
    except solver.PliantError as error:
        raise BakeError(f"The frames in {cache.store_path} cannot be used: {str(error).rstrip('.')}.") from error


def _radius(rest):
    """Half the usual distance between neighbours, from some of them."""
    some = rest[np.linspace(0, len(rest) - 1, min(len(rest), 50)).astype(int)]
    squares = ((some[:, None, :] - rest[None, :, :]).astype(np.float64) ** 2).sum(axis=2)
    nearest = np.sort(squares, axis=1)[:, 1:2]
    return float(np.sqrt(np.median(nearest)) / 2) if nearest.size else 0.01
