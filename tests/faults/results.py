# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults in every file operation of making results: a mesh that broke is exported as MDD and Alembic,
gets shape keys, and its .blend is saved over itself. In a Python that has the module bpy.

    results.py SHIM [--jobs N] [--every N] [--only MODE:NUMBER]
    results.py --kills COUNT [--seed S]

With --kills the whole command is killed with SIGKILL at random moments, from the first frame to the saved
.blend, and run again; the cutting is in its own process then.

The bake is never touched. A command that says it is done has made everything; run again without faults
it makes what one without faults makes, to the bit: of Alembic files and the .blend what they show in each
frame.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "blender")]
sys.dont_write_bytecode = True

import harness  # noqa: E402
import support  # noqa: E402
from harness import plain  # noqa: E402

user = support.prepare()
import bpy  # noqa: E402

support.enable()
import numpy as np  # noqa: E402

cli, breaking, meshes = (support.addon(name) for name in ("cli", "fracture", "blender.meshes"))
LATEST = 3  # frames
BAKE = ("bake.json", "00-Bar.rest", "00-Bar.pc2", "frames/")


class Results(harness.Campaign):
    def __init__(self, shim, place):
        super().__init__(shim, place)
        self.template = self.place / "template"
        failed = harness.forked(self.make)
        if failed or failed is None:
            sys.exit(f"the bake without faults failed: {failed}")
        self.bake = harness.contents(self.template)
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
        make_shot(self.template)
        code = cli.main(
            ["bake", "--blend", str(self.template / "shot.blend"), "--save", str(self.template / "shot.blend")]
        )
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
        support.addon("bake.fractured_output").fracture.break_in_background = lambda *_: self.kept
        blend = str(folder / "shot.blend")
        code = cli.main(["export", "--blend", blend, "--format", "mdd,abc,shape_keys", "--save", blend])
        return f"code {code}" if code else ""

    def found(self, folder):
        return found_in(folder)

    def after(self, folder, error):
        if error == "":
            return self.differences(folder)
        cache = "pliant_cache/shot/Scene/"
        found, wanted = (
            {name: data for name, data in all_of.items() if name.removeprefix(cache).startswith(BAKE)}
            for all_of in (harness.contents(folder), self.bake)
        )
        return harness.compared(found, wanted)

    def differences(self, folder):
        differs = harness.compared(self.found(folder), self.wanted)
        if differs:
            return differs
        found = harness.forked(lambda: shown(folder))
        return "" if found == self.shown else f"the .blend shows something else: {found}"


def make_shot(folder):
    """A .blend with a bar that is torn apart within a few frames."""
    harness.silent()
    from test_fracture import bar

    scene = support.fresh()
    scene.frame_start, scene.frame_end = 1, LATEST
    scene.use_gravity = False
    obj = bar(cuts=5)
    obj.pliant.fracture.toughness, obj.pliant.particles.count = 0.02, 60
    obj.scale.x = 3.0
    obj.keyframe_insert("scale", index=0, frame=12)
    folder.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))


def found_in(folder):
    """Everything but the .blend and its backup, and locks of those that were killed."""
    found = harness.contents(folder, leave_out=("shot.blend", "bake.lock"))
    return {
        name: imported(folder / name) if name.endswith(".abc") else plain(name, data) for name, data in found.items()
    }


def imported(path):
    """What an Alembic file has in each frame; its bytes depend on the time that it was written at."""

    def read():
        harness.silent()
        scene = support.fresh()
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
        obj = next(o for o in scene.objects if o.type == "MESH")
        marks = [f"{len(obj.data.vertices)} vertices, {len(obj.data.polygons)} faces"]
        for frame in range(1, LATEST + 1):
            scene.frame_set(frame)
            mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            digest = hashlib.blake2b(meshes.positions(mesh).tobytes(), digest_size=8)
            for name in ("velocity", ".velocities"):
                if name in mesh.attributes:
                    speed = np.empty(3 * len(mesh.vertices), np.float32)
                    mesh.attributes[name].data.foreach_get("vector", speed)
                    digest.update(speed)
            marks.append(digest.hexdigest())
        return " ".join(marks)

    return harness.forked(read)


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


def bake(folder):
    harness.silent()
    blend = str(folder / "shot.blend")
    code = cli.main(["bake", "--blend", blend, "--save", blend, "--resume", "--format", "mdd,abc"])
    return f"code {code}" if code else ""


def killed(folder, seconds):
    """Whether the kill came before the end; processes that it has started go with it."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        try:
            bake(folder)
        finally:
            os._exit(0)
    time.sleep(seconds)
    status = os.waitpid(child, os.WNOHANG)
    if status[0]:
        return False
    os.killpg(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def kills(count, seed):
    """How many cases failed."""
    chosen, bad, hits = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory(dir=harness.MEMORY) as place:
        template, folder = Path(place, "template"), Path(place, "case")
        if harness.forked(lambda: make_shot(template)) != "":
            sys.exit("the shot was not made")

        def case(moments):
            shutil.copytree(template, folder)
            came = sum(killed(folder, seconds) for seconds in moments)
            begun = time.monotonic()
            failed = harness.forked(lambda: bake(folder))
            took = time.monotonic() - begun
            found, seen = found_in(folder), harness.forked(lambda: shown(folder))
            shutil.rmtree(folder)
            return failed, came, took, found, seen

        failed, _, took, wanted, seen = case([])
        if failed != "":
            sys.exit(f"the bake that nobody kills failed: {failed}")
        for number in range(count):
            moments = [chosen.uniform(0, took) for _ in range(2 if number % 3 == 2 else 1)]
            failed, came, _, found, now = case(moments)
            hits += came
            failed = failed or harness.compared(found, wanted) or ("" if now == seen else "the .blend differs")
            if failed or failed is None:
                bad += 1
                print(f"FAIL killed after {[round(m, 3) for m in moments]} s of {took:.2f}: {failed}")
    print(f"{count} bakes of {took:.2f} s with cutting, Alembic and saving, {hits} kills before their end")
    print(f"{count - bad} passed, {bad} failed", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=14)
    options = harness.options_of(parser)
    try:
        bad = kills(options.kills, options.seed) if options.kills else harness.main("results", Results, options)
        return 1 if bad else 0
    finally:
        shutil.rmtree(user, ignore_errors=True)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # Blender's own way out of a module may crash; not ours to test
