# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Blender examples share: an empty scene with a floor and light, the bake, the picture strip.

    shot = Shot("ball", frames=48)          # reads the arguments, empties the scene
    ball = shot.add(...)                    # bpy as usual, shot.soft(ball, "Rubber"), shot.collider()
    shot.camera((0, -6, 2), (0, 0, 1))
    shot.finish([1, 9, 11, 13, 20, 48])     # saves, bakes through the command line, renders those

Needs a Python with the module bpy. Written to out/NAME: NAME.blend (the scene as built), NAME-baked.blend
(with the bake playing), cache/ (the bake itself), NAME.png (the strip).
"""

import argparse
import importlib.util
import math
import sys
import time
from pathlib import Path

import bpy  # first: the modules below are inside it
import bmesh
import numpy as np
import render
from mathutils import Quaternion, Vector

ROOT = Path(__file__).resolve().parents[1]


def load_cli():
    """The add-on's command line, in this process; the add-on is registered for it."""
    spec = importlib.util.spec_from_file_location("pliant_script", ROOT / "addon" / "cli.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return importlib.import_module(script.load_addon().__name__ + ".cli")


class Shot:
    def __init__(self, name, frames, text):
        parser = argparse.ArgumentParser(description=text)
        parser.add_argument("--out", type=Path, default=ROOT / "out" / name)
        parser.add_argument("--frames", type=int, default=frames, help="how many to bake")
        parser.add_argument("--particles", type=float, default=1.0, metavar="FACTOR", help="on the number of particles")
        parser.add_argument("--samples", type=int, default=24, help="of each pixel")
        parser.add_argument("--scale", type=float, default=1.0, help="of the pictures")
        parser.add_argument(
            "--bake-again", action="store_true", help="also where the bake is there and nothing has changed"
        )
        self.name, self.text = name, text
        self.options = parser.parse_args()
        self.began = time.perf_counter()
        self.options.out.mkdir(parents=True, exist_ok=True)
        self.cli = load_cli()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.scene.frame_start, self.scene.frame_end = 1, self.options.frames
        self.size = (240, 240)

    # ------------------------------------------------------------ things

    def add(self, operator, name, colour=None, smooth=True, **arguments):
        """An object made by one of bpy.ops.mesh's operators."""
        getattr(bpy.ops.mesh, operator)(**arguments)
        obj = bpy.context.object
        obj.name = obj.data.name = name
        return self.dress(obj, colour, smooth)

    def mesh(self, name, vertices, faces, colour=None, smooth=True):
        """An object from arrays."""
        data = bpy.data.meshes.new(name)
        data.from_pydata([tuple(v) for v in vertices], [], [tuple(f) for f in faces])
        data.update()
        obj = bpy.data.objects.new(name, data)
        self.scene.collection.objects.link(obj)
        bpy.context.view_layer.objects.active = obj
        return self.dress(obj, colour, smooth)

    def dress(self, obj, colour, smooth=True):
        if colour is not None:
            obj.data.materials.append(colour)
        obj.data.polygons.foreach_set("use_smooth", [smooth] * len(obj.data.polygons))
        return obj

    def soft(self, obj, preset="Rubber", particles=2500, **settings):
        """Makes an object a soft body. settings: material_damping=3, clusters_levels=2, ..."""
        bpy.context.view_layer.update()
        obj.pliant.role = "BODY"
        presets = sys.modules[self.cli.__package__ + ".blender.presets"]
        presets.apply(obj, preset)
        obj.pliant.particles.count = max(60, round(particles * self.options.particles))
        for name, value in settings.items():
            group, _, name = name.partition("_")
            setattr(getattr(obj.pliant, group), name, value)
        return obj.pliant

    def collider(self, obj, **settings):
        obj.pliant.role = "COLLIDER"
        for name, value in settings.items():
            setattr(obj.pliant.collider, name, value)
        return obj

    def hands(self, obj, keys):
        """Two bones in the middle of an object along x, which take its halves with them. keys: frame,
        degrees that they bend down, degrees that each twists, how far each is drawn away."""
        data = bpy.data.armatures.new("Hands")
        rig = bpy.data.objects.new("Hands", data)
        self.scene.collection.objects.link(rig)
        rig.location = obj.location
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="EDIT")
        for name, side in (("Left", -1), ("Right", 1)):
            bone = data.edit_bones.new(name)
            bone.head, bone.tail = (0, 0, 0), (side, 0, 0)
        bpy.ops.object.mode_set(mode="OBJECT")
        for name, side in (("Left", -1), ("Right", 1)):
            obj.vertex_groups.new(name=name).add(
                [v.index for v in obj.data.vertices if v.co.x * side >= 0], 1.0, "REPLACE"
            )
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            rest = bone.bone.matrix_local.to_quaternion()
            for frame, bend, twist, away in keys:
                turn = Quaternion((0, 1, 0), side * math.radians(bend))
                bone.rotation_euler = (rest.inverted() @ turn @ rest).to_euler()
                bone.rotation_euler.y += math.radians(twist)  # about the bone
                bone.location.y = away  # along the bone
                bone.keyframe_insert("rotation_euler", frame=frame)
                bone.keyframe_insert("location", frame=frame)
        obj.modifiers.new("Hands", "ARMATURE").object = rig
        bpy.context.view_layer.objects.active = obj

    def floor(self, colour=(0.46, 0.47, 0.50), size=60, **settings):
        plane = self.add("primitive_plane_add", "Floor", plain(colour, 0.8), size=size)
        return self.collider(plane, **settings)

    # ------------------------------------------------------------ light and camera

    def lights(self, sky=0.62, sun=2.6, at=(2.4, -2.2, 4.2), centre=(0, 0, 0)):
        """A bright sky, and a wide sun whose shadows have soft borders."""
        world = bpy.data.worlds.new("Sky")
        self.scene.world = world
        world.use_nodes = True
        world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.80, 0.88, 1, 1)
        world.node_tree.nodes["Background"].inputs["Strength"].default_value = sky
        data = bpy.data.lights.new("Sun", "SUN")
        data.energy, data.angle, data.color = sun, math.radians(14), (1, 0.93, 0.82)
        lamp = bpy.data.objects.new("Sun", data)
        self.scene.collection.objects.link(lamp)
        lamp.rotation_euler = look(at, centre)

    def camera(self, at, towards, angle=32, size=None):
        data = bpy.data.cameras.new("Camera")
        data.angle = math.radians(angle)
        camera = bpy.data.objects.new("Camera", data)
        self.scene.collection.objects.link(camera)
        camera.location, camera.rotation_euler = at, look(at, towards)
        self.scene.camera = camera
        self.size = size or self.size

    # ------------------------------------------------------------ baking and drawing

    def finish(self, shown):
        """Saves the scene, bakes it, renders the frames `shown` into a strip."""
        out, name = self.options.out.absolute(), self.name
        self._render_settings()
        blend, baked = out / f"{name}.blend", out / f"{name}-baked.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        if self.options.bake_again and self.cli.main(["clear", "--blend", str(blend), "--out", str(out / "cache")]):
            sys.exit(1)
        code = self.cli.main(
            ["bake", "--blend", str(blend), "--out", str(out / "cache"), "--resume", "--save", str(baked)]
        )
        if code == 6:  # the example has changed since its last bake
            code = self.cli.main(["bake", "--blend", str(blend), "--out", str(out / "cache"), "--save", str(baked)])
        if code:
            print(f"{name}: the bake failed with exit code {code}")
            self.cli.leave(code)
        simulated = time.perf_counter() - self.began
        picture = self._strip([f for f in shown if f <= self.options.frames] or [1])
        print(
            f"{name}: baked in {simulated:.1f} s, drawn in "
            f"{time.perf_counter() - self.began - simulated:.1f} s: {picture}",
            flush=True,
        )
        self.cli.leave(0)

    def _render_settings(self):
        scene = self.scene
        scene.render.engine = "CYCLES"
        scene.cycles.device = "CPU"
        scene.cycles.samples = self.options.samples
        scene.cycles.use_adaptive_sampling, scene.cycles.adaptive_threshold = True, 0.05
        scene.cycles.use_denoising = True
        scene.cycles.max_bounces = 4
        scene.cycles.caustics_reflective = scene.cycles.caustics_refractive = False
        scene.render.resolution_x = max(16, round(self.size[0] * self.options.scale))
        scene.render.resolution_y = max(16, round(self.size[1] * self.options.scale))
        scene.render.image_settings.file_format = "PNG"
        scene.render.use_persistent_data = True
        scene.view_settings.view_transform = "Standard"
        if scene.world is None:
            self.lights()

    def _strip(self, shown):
        scene = bpy.context.scene
        images, folder = [], self.options.out.absolute()
        for number, frame in enumerate(shown, 1):
            print(f"Drawing frame {frame}, picture {number} of {len(shown)}", flush=True)
            scene.frame_set(frame)
            path = folder / f"{self.name}-{frame:04d}.png"
            scene.render.filepath = str(path)
            bpy.ops.render.render(write_still=True)
            images.append(read_image(path))
            path.unlink()
        picture = folder / f"{self.name}.png"
        render.write_png(picture, render.tile(images, len(images)))
        return picture


def look(at, towards):
    return (Vector(towards) - Vector(at)).to_track_quat("-Z", "Y").to_euler()


def read_image(path):
    image = bpy.data.images.load(str(path))
    width, height = image.size
    values = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(values)
    bpy.data.images.remove(image)
    rows = values.reshape(height, width, 4)[::-1, :, :3]
    return (np.clip(rows, 0, 1) * 255 + 0.5).astype(np.uint8)


# ---------------------------------------------------------------- materials


def plain(colour, roughness=0.5, **inputs):
    """A principled material. inputs: names of its sockets with _ for spaces."""
    material = bpy.data.materials.new("Plain")
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1)
    shader.inputs["Roughness"].default_value = roughness
    for name, value in inputs.items():
        shader.inputs[name.replace("_", " ")].default_value = value
    return material


def checked(colour, other, scale=6.0, roughness=0.4, **inputs):
    """Two colours in a checker that sticks to the body, so that its stretching shows."""
    material = plain(colour, roughness, **inputs)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    checker, place = nodes.new("ShaderNodeTexChecker"), nodes.new("ShaderNodeTexCoord")
    checker.inputs["Color1"].default_value = (*colour, 1)
    checker.inputs["Color2"].default_value = (*other, 1)
    checker.inputs["Scale"].default_value = scale
    links.new(place.outputs["Generated"], checker.inputs["Vector"])
    links.new(checker.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    return material


def stripes(colours, roughness=0.7):
    """Upright stripes of colours along the body's own x."""
    material = plain(colours[0], roughness)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    ramp, place = nodes.new("ShaderNodeValToRGB"), nodes.new("ShaderNodeTexCoord")
    split = nodes.new("ShaderNodeSeparateXYZ")
    ramp.color_ramp.interpolation = "CONSTANT"
    elements = ramp.color_ramp.elements
    while len(elements) < len(colours):
        elements.new(0.5)
    for number, colour in enumerate(colours):
        elements[number].position = number / len(colours)
        elements[number].color = (*colour, 1)
    links.new(place.outputs["Generated"], split.inputs["Vector"])
    links.new(split.outputs["X"], ramp.inputs["Fac"])
    links.new(ramp.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    return material


# ---------------------------------------------------------------- meshes


def divide(obj, cuts):
    """Divides every edge of an object's mesh."""
    made = bmesh.new()
    made.from_mesh(obj.data)
    bmesh.ops.subdivide_edges(made, edges=made.edges, cuts=cuts, use_grid_fill=True)
    made.to_mesh(obj.data)
    made.free()


def flat_ends(cylinder):
    """A cylinder's wall is round, its ends are flat."""
    for face in cylinder.data.polygons:
        face.use_smooth = len(face.vertices) == 4
