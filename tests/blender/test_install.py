# SPDX-License-Identifier: GPL-3.0-or-later
"""The packed extension: valid, installed by Blender's own operator, and its library the same to the bit.

PLIANT_EXTENSION names the zip (bash addon/build makes it); without it these tests are skipped.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import bpy
import support

ZIP = os.environ.get("PLIANT_EXTENSION", "")

# What a user's Blender does, in a process that knows nothing of the checkout.
INSTALL = """
import importlib, json, sys
import bpy
done = bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default",
                                                enable_on_install=True)
package = "bl_ext.user_default.pliant"
said = {"done": sorted(done), "enabled": package in bpy.context.preferences.addons}
solver = importlib.import_module(package + ".solver")
library = importlib.import_module(package + ".solver.library").load()
said["library"] = library.pliant_path
said["version"] = library.pliant_version().decode()
said["build"] = library.pliant_build_info().decode()
exec(sys.argv[3])
said["cut"] = snap(importlib.import_module(package + ".fracture"))
exec(sys.argv[2])
said["hash"] = drop(solver)
bpy.ops.extensions.package_uninstall(repo_index=[r.module for r in
    bpy.context.preferences.extensions.repos].index("user_default"), pkg_id="pliant")
print("SAID " + json.dumps(said))
"""

# Twenty frames of a body that falls on the floor, for two libraries to agree on.
DROP = """
def drop(solver):
    cube = [(x, y, z + .5) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
             (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    with solver.Scene(threads=2) as scene:
        body = scene.add_body(cube, faces, sample={"count": 800}, material={"damping": 1})
        scene.add_collider(solver.Shape.PLANE, friction=.5)
        for frame in range(20):
            scene.advance(dt=1 / 24)
        assert body.info.centre[2] < .9, body.info.centre[2]
        return scene.hash()
"""

# A cube of 64 particles that parted in the middle, cut in a process of its own: what was installed
# must reach manifold3d for the Python of this Blender.
SNAP = """
def snap(fracture):
    import numpy as np
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), -1).reshape(-1, 3)
    first, second = np.triu_indices(64, 1)
    near = (np.abs(grid[first] - grid[second]) <= 1).all(1)
    pairs = np.column_stack([first, second])[near]
    until = np.where((grid[pairs, 0] < 2).sum(1) == 1, 3.0, np.inf)
    body = fracture.Particles((grid + .5) / 4, np.full(64, -1), np.full(64, -np.inf), pairs, until, .25)
    cube = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    faces = [0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3]
    broken = fracture.break_in_background(fracture.Surface(cube, np.arange(7) * 4, np.array(faces)), body,
                                 fracture.Look())
    from_wheel = importlib.import_module(fracture.__name__ + ".cut").library().__name__
    return [int(broken.piece.max()) + 1, bool(broken.inside.any()), broken.warnings, from_wheel]
"""


@unittest.skipUnless(ZIP, "PLIANT_EXTENSION names no zip; bash addon/build makes one")
class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with zipfile.ZipFile(ZIP) as archive:
            cls.names = archive.namelist()

    def test_holds_the_addon_and_nothing_else(self):
        for name in self.names:
            self.assertNotRegex(name, r"__pycache__|\.pyc$|test|^build$|pack\.py$|wheels\.txt$|\.so$|/\.|^\.")
        for wanted in ("__init__.py", "blender_manifest.toml", "LICENSE", "solver/library.py"):
            self.assertIn(wanted, self.names)
        tracked = {p.relative_to(support.ROOT / "addon").as_posix() for p in (support.ROOT / "addon").rglob("*.py")} - {
            "pack.py"
        }
        self.assertEqual(tracked, {n for n in self.names if n.endswith(".py")})

    def test_blender_finds_it_valid(self):
        tool = next(Path(bpy.utils.system_resource("SCRIPTS")).rglob("blender_ext.py"))
        done = subprocess.run(
            [sys.executable, str(tool), "validate", ZIP], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("rror", done.stdout)

    def test_installs_and_simulates_like_the_checkout(self):
        with tempfile.TemporaryDirectory() as user:
            environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
            environment["BLENDER_USER_RESOURCES"] = user
            done = subprocess.run(
                [sys.executable, "-c", INSTALL, ZIP, DROP, SNAP],
                text=True,
                cwd="/",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
            )
            lines = [line for line in done.stdout.splitlines() if line.startswith("SAID ")]
            self.assertTrue(lines, done.stdout)
            left = list(Path(user, "extensions").rglob("*pliant*"))
        said = json.loads(lines[0][5:])
        self.assertEqual(said["done"], ["FINISHED"], done.stdout)
        self.assertTrue(said["enabled"], done.stdout)
        self.assertTrue(said["library"].startswith(user), said["library"])
        self.assertIn("site-packages/pliant_native", said["library"])
        self.assertIn(f"pliant-{said['version']}-", Path(ZIP).name)
        self.assertIn("zstd", said["build"])
        self.assertEqual(said["cut"], [2, True, [], "pliant_native.manifold3d"])
        here = {}
        exec(DROP, here)
        self.assertEqual(said["hash"], here["drop"](support.addon("solver")))
        self.assertEqual(left, [], "uninstalling left these behind")


if __name__ == "__main__":
    unittest.main()
