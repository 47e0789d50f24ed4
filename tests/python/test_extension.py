# SPDX-License-Identifier: GPL-3.0-or-later
"""Contents of the extension's zip, without building it."""

import importlib.util
import re
import tempfile
import tomllib
import unittest
import zipfile
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("pack", ROOT / "addon" / "pack.py")
pack = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pack)


class Extension(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_versions_agree(self):
        self.assertRegex(pack.version(), r"^\d+\.\d+\.\d+$")
        (self.folder / "CMakeLists.txt").write_text("project(pliant VERSION 9.9.9 LANGUAGES C)")
        with mock.patch.object(pack, "ROOT", self.folder):
            with self.assertRaisesRegex(pack.Problem, "has version 9.9.9, blender_manifest.toml"):
                pack.version()

    def test_manifest_is_what_blender_asks_for(self):
        data = tomllib.loads(pack.manifest(Path("some-1-py3-none-any.whl"), "linux-x64").decode())
        for sentence in (data["tagline"], *data["permissions"].values()):
            self.assertLessEqual(len(sentence), 64)
            self.assertNotRegex(sentence, r"[.!?]$")
        self.assertNotRegex(data["name"], re.compile("blender", re.IGNORECASE))
        self.assertEqual(data["wheels"], ["./wheels/some-1-py3-none-any.whl"])
        self.assertEqual(data["platforms"], ["linux-x64"])
        self.assertEqual(data["license"], ["SPDX:GPL-3.0-or-later"])
        self.assertNotIn("build", data)

    def test_only_the_addon_goes_in(self):
        for name in (
            "__init__.py",
            "ui/a.py",
            "ui/__pycache__/a.pyc",
            "build",
            "pack.py",
            ".hidden",
            "ui/build",
            "presets/Rubber.json",
        ):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        (self.folder / "blender_manifest.toml").write_bytes((ROOT / "addon" / "blender_manifest.toml").read_bytes())
        with mock.patch.object(pack, "ADDON", self.folder):
            self.assertEqual(
                set(pack.addon_files()),
                {"__init__.py", "ui/a.py", "ui/build", "presets/Rubber.json", "blender_manifest.toml"},
            )
            (self.folder / "libpliant.so").write_text("")
            with self.assertRaisesRegex(pack.Problem, "belong in the wheel.*libpliant.so"):
                pack.addon_files()

    def test_one_wheel_carries_manifold3d_for_every_python(self):
        def wheel(tag, names):
            pack.write_zip(
                self.folder / f"manifold3d-3.5.4-{tag}-{tag}-manylinux_2_28_x86_64.whl",
                {name: name.encode() for name in names},
            )

        licence = "manifold3d-3.5.4.dist-info/licenses/LICENSE"
        wheel("cp311", ["manifold3d.cpython-311-x86_64-linux-gnu.so", "manifold3d.pyi", licence])
        with self.assertRaisesRegex(pack.Problem, "0 wheels of manifold3d for Python 3.13"):
            pack.carried_modules(self.folder, ["3.11", "3.13"])
        wheel("cp313", ["manifold3d.cpython-313-x86_64-linux-gnu.so", licence])
        files, text, version = pack.carried_modules(self.folder, ["3.11", "3.13"])
        self.assertEqual(sorted(files), [f"manifold3d.cpython-{v}-x86_64-linux-gnu.so" for v in ("311", "313")])
        self.assertEqual((text, version), (licence.encode(), "3.5.4"))
        wheel("cp313", [licence])
        with self.assertRaisesRegex(pack.Problem, "hold .*cpython-311"):
            pack.carried_modules(self.folder, ["3.11", "3.13"])

    def test_the_tests_use_the_version_that_is_packed(self):
        packed = re.search(r"manifold3d==\S+", (ROOT / "addon" / "wheels.txt").read_text())[0]
        self.assertIn(packed, (ROOT / "tests" / "env.sh").read_text())

    def test_the_same_files_make_the_same_bytes(self):
        files = {"b.txt": b"b" * 1000, "a/lib.so": b"a"}
        pack.write_zip(self.folder / "1.zip", files)
        pack.write_zip(self.folder / "2.zip", dict(reversed(files.items())))
        self.assertEqual((self.folder / "1.zip").read_bytes(), (self.folder / "2.zip").read_bytes())
        with zipfile.ZipFile(self.folder / "1.zip") as archive:
            self.assertEqual({n: archive.read(n) for n in archive.namelist()}, files)


if __name__ == "__main__":
    unittest.main()
