# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults in every file operation of making results: a mesh that broke is exported as MDD and Alembic,
gets shape keys, and its .blend is saved over itself. In a Python that has the module bpy.

    results.py SHIM [--jobs N] [--every N] [--only MODE:NUMBER]

The bake is never touched. A command that says it is done has made everything; run again without faults
it makes what one without faults makes, to the bit: Alembic files but for the time that is in them, and
of the .blend what it shows in each frame.
"""
import re
import shutil
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "blender")]
sys.dont_write_bytecode = True

import harness  # noqa: E402
import house  # noqa: E402

user = house.prepare()
import bpy  # noqa: E402

house.enable()
import numpy as np  # noqa: E402

cli, breaking, meshes = (house.addon(name) for name in ("cli", "cracks", "bridge.meshes"))
LATEST = 3  # frames
BAKE = ("bake.json", "00-Bar.rest", "00-Bar.pc2", "frames/")
ABOUT = re.compile(rb"_ai_(DateWritten|Description)=[^;\0]*")  # the time, and the .blend's path


class Results(harness.Campaign):
    def __init__(self, shim, place):
        super().__init__(shim, place)
        self.template = self.place / "template"
        failed = harness.forked(self.make)
        if failed or failed is None:
            sys.exit(f"the bake without faults failed: {failed}")
        self.kept = breaking.archive.load(self.place / "cut.npz")["broken"]
        folder = self.folder(0)
        self.prepare(folder)
        failed = harness.forked(lambda: self.run(folder))
        if failed or failed is None:
            sys.exit(f"the export without faults failed: {failed}")
        self.wanted, self.shown = self.found(folder), harness.forked(lambda: shown(folder))
        shutil.rmtree(folder)

    def make(self):
        """A finished bake, and what its mesh is cut into."""
        harness.silent()
        from test_fracture import bar
        scene = house.fresh()
        scene.frame_start, scene.frame_end = 1, LATEST
        scene.use_gravity = False
        obj = bar(cuts=5)
        obj.pliant.fracture.toughness, obj.pliant.particles.count = .02, 60
        obj.scale.x = 3.0
        obj.keyframe_insert("scale", index=0, frame=12)
        self.template.mkdir()
        bpy.ops.wm.save_as_mainfile(filepath=str(self.template / "shot.blend"))
        code = cli.main(["bake", "--blend", str(self.template / "shot.blend"), "--save",
                         str(self.template / "shot.blend")])
        for path in (self.template / "pliant_cache/shot/Scene").glob("*.broken.*"):
            if path.suffix == ".npz":
                shutil.copyfile(path, self.place / "cut.npz")
            path.unlink()
        (self.template / "shot.blend1").unlink()
        return f"code {code}" if code else ""

    def prepare(self, folder):
        shutil.copytree(self.template, folder)

    def run(self, folder):
        """Cutting is in another process and writes nothing here: its result is known."""
        harness.silent()
        house.addon("bake.broken").cracks.break_beside = lambda *_: self.kept
        blend = str(folder / "shot.blend")
        code = cli.main(["export", "--blend", blend, "--format", "mdd,abc,shape_keys", "--save", blend])
        return f"code {code}" if code else ""

    def found(self, folder):
        """Everything but the .blend and its backup."""
        found = harness.contents(folder, leave_out=("shot.blend",))
        return {name: ABOUT.sub(b"", data) if name.endswith(".abc") else data
                for name, data in found.items()}

    def after(self, folder, error):
        if error == "":
            return self.differences(folder)
        cache = "pliant_cache/shot/Scene/"
        found, wanted = ({name: data for name, data in all_of.items()
                          if name.removeprefix(cache).startswith(BAKE)}
                         for all_of in (self.found(folder), self.wanted))
        return harness.compared(found, wanted)

    def differences(self, folder):
        differs = harness.compared(self.found(folder), self.wanted)
        if differs:
            return differs
        found = harness.forked(lambda: shown(folder))
        return "" if found == self.shown else f"the .blend shows something else: {found}"


def shown(folder):
    """A mark of what the saved .blend shows."""
    harness.silent()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "shot.blend"))
    scene = bpy.context.scene
    obj = scene.objects["Bar"]
    marks = []
    for frame in range(1, LATEST + 1):
        scene.frame_set(frame)
        mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        marks.append(str(meshes.positions(mesh).astype(np.float64).sum()))
    return f"{len(obj.data.vertices)} vertices, {obj.pliant.result.kind}, {' '.join(marks)}"


def main():
    try:
        return 1 if harness.main("results", Results, harness.options_of()) else 0
    finally:
        shutil.rmtree(user, ignore_errors=True)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    house.os._exit(code)  # Blender's own way out of a module may crash; not ours to test
