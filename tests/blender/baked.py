# SPDX-License-Identifier: GPL-3.0-or-later
"""A small baked scene, and comparison of results with its frame store."""

import tempfile
import unittest
from pathlib import Path

import bpy
import support
import numpy as np

capture, folders, meshes, modifiers, results = (
    support.addon(name)
    for name in (
        "blender.capture.capture",
        "blender.folders",
        "blender.meshes",
        "blender.modifiers",
        "blender.results.results",
    )
)
errors, job, space = (support.addon(name) for name in ("bake.errors", "bake.job", "bake.transforms"))
cache_module = support.addon("bake.cache")

START, END = 3, 12


def grid_mesh(name, size=6):
    """A bent sheet with faces, UVs, a material and a colour."""
    y, x = np.divmod(np.arange(size * size), size)
    corner = (np.arange(size - 1)[:, None] * size + np.arange(size - 1)).reshape(-1)
    faces = np.stack([corner, corner + 1, corner + size + 1, corner + size], 1)
    points = np.stack([x / (size - 1) - 0.5, y / (size - 1) - 0.5, 0.2 * np.sin(x)], 1)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces.tolist())
    mesh.uv_layers.new(name="UVMap")
    mesh.materials.append(bpy.data.materials.new(f"{name} paint"))
    return mesh


def add_body(scene, name, mesh=None):
    if mesh is None:
        bpy.ops.mesh.primitive_monkey_add()
        obj = bpy.context.object
        obj.name = name
    else:
        obj = bpy.data.objects.new(name, mesh)
        scene.collection.objects.link(obj)
    obj.pliant.role = "BODY"
    obj.pliant.particles.count = 150
    obj.vertex_groups.new(name="half").add(range(len(obj.data.vertices) // 2), 0.5, "ADD")
    return obj


def animate(obj, path, values):
    """Straight through values at the first and the last frame."""
    for frame, value in zip((START, END), values):
        setattr(obj, path, value)
        obj.keyframe_insert(path, frame=frame)


def build(scene):
    """Two bodies: 'Plain' stands still; 'Odd' is mirrored, stretched, parented to something that
    moves and turns, bent by a modifier before the simulation and refined by one after it."""
    scene.frame_start, scene.frame_end = START, END
    plain = add_body(scene, "Plain")
    plain.location = (1.5, -2.0, 3.0)
    carrier = bpy.data.objects.new("Carrier", None)
    scene.collection.objects.link(carrier)
    animate(carrier, "location", ((0, 0, 0), (1.0, 2.0, -1.0)))
    animate(carrier, "rotation_euler", ((0, 0, 0), (0.5, -0.3, 1.0)))
    odd = add_body(scene, "Odd", grid_mesh("Odd"))
    odd.parent = carrier
    odd.location, odd.rotation_euler, odd.scale = (-3, 1, 4), (0.3, 1.0, -0.4), (1.5, -0.7, 2.0)
    bend = odd.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.deform_method, bend.angle = "BEND", 0.6
    refine = odd.modifiers.new("Refine", "SUBSURF")
    refine.levels = refine.render_levels = 1
    bpy.context.view_layer.update()
    return plain, odd


def bake(scene, folder, end=None):
    """Captures and simulates; the cache."""
    scene.pliant.folder = str(folder)
    shot = capture.capture_all(scene)
    cache = cache_module.Cache.create(folders.folder_of(scene), shot)
    if end is not None:
        shot.frames = shot.frames[: end - shot.start + 1]
    work = job.Job(shot, cache)
    work.run()
    if work.error:
        raise AssertionError(work.error)
    return cache


def evaluated(obj, attribute="position", width=3):
    """An attribute of the evaluated mesh, as (n, width) float32."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    found = mesh.attributes[attribute].data
    flat = np.empty(width * len(found), np.float32)
    found.foreach_get("vector" if width == 3 else "value", flat)
    return flat.reshape(-1, width) if width > 1 else flat


def stored(cache, body, frame, rest=None, matrix=None, velocities=False):
    """What the frame store has for a mesh, in its object's coordinates."""
    rest = cache.rest(body) if rest is None else rest
    matrix = cache.matrix(body, frame) if matrix is None else matrix
    with cache.open_store() as store, store.skin(body.index, rest, origin=cache.origin) as skin:
        moved = skin.apply(frame, origin=cache.origin, velocities=velocities)
    if velocities:
        return space.vectors_to_local(moved.velocities, matrix)
    return space.mapped(moved.vertices, space.to_object(matrix, cache.origin))


def state_of(obj):
    """Everything about an object that a result must give back."""
    mesh = obj.data
    return {
        "mesh": mesh.name,
        "positions": meshes.positions(mesh).tobytes(),
        "keys": mesh.shape_keys and [(k.name, k.value) for k in mesh.shape_keys.key_blocks],
        "modifiers": [(m.name, m.type, m.show_viewport, m.show_render) for m in obj.modifiers],
        "uvs": [layer.name for layer in mesh.uv_layers],
        "materials": [m.name if m else None for m in mesh.materials],
        "groups": [g.name for g in obj.vertex_groups],
        "attributes": sorted(a.name for a in mesh.attributes),
    }


class Baked(unittest.TestCase):
    """Each test has a fresh file with the bake of build(), and a folder of its own. The scene is
    baked once."""

    @classmethod
    def setUpClass(cls):
        cls._files = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._files.cleanup)
        scene = support.fresh()
        build(scene)
        cls._baked = Path(cls._files.name) / "baked"
        bake(scene, cls._baked)
        cls._blend = Path(cls._files.name) / "baked.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(cls._blend))
        cls._count = 0

    def setUp(self):
        type(self)._count += 1
        self.folder = Path(self._files.name) / f"cache {self._count}"
        cache_module.copy(self._baked, self.folder)
        bpy.ops.wm.open_mainfile(filepath=str(self._blend))
        self.scene = bpy.context.scene
        self.scene.pliant.folder = str(self.folder)
        self.cache = cache_module.Cache.open(self.folder)

    def object(self, name):
        return self.scene.objects[name]

    def activate(self, obj):
        for other in bpy.context.view_layer.objects:
            other.select_set(other == obj)
        bpy.context.view_layer.objects.active = obj
        return obj

    def make(self, name, kind, **options):
        self.activate(self.object(name))
        self.assertEqual(bpy.ops.pliant.make_result(format=kind, **options), {"FINISHED"})
        return self.object(name)

    def refused(self, sentence, call, *arguments, **options):
        with self.assertRaises(RuntimeError) as caught:
            call(*arguments, **options)
        self.assertIn(sentence, str(caught.exception))

    def without_refinement(self, obj):
        """Later modifiers off, so that the simulated mesh itself is seen."""
        for name in modifiers.after_playback(obj) or ["Refine"]:
            if name in obj.modifiers:
                obj.modifiers[name].show_viewport = False

    def check_playback(self, obj, expected, tolerance=0.0):
        """The evaluated mesh at every frame against expected(frame)."""
        moved = 0.0
        first = None
        for frame in range(START, END + 1):
            self.scene.frame_set(frame)
            seen, wanted = evaluated(obj), expected(frame)
            first = wanted if first is None else first
            moved = max(moved, np.abs(wanted - first).max())
            if tolerance:
                np.testing.assert_allclose(seen, wanted, rtol=0, atol=tolerance)
            else:
                np.testing.assert_array_equal(seen, wanted, f"frame {frame}")
        self.assertGreater(moved, 0.01, "nothing moves: the test would see nothing")
