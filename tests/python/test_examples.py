# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples' shapes are closed, their renderer draws what is there, and they run."""

import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

from support import ROOT

import numpy as np
import render
import shapes


def read_png(path):
    """Just what write_png writes: 8-bit RGB, filters left, up and average."""
    data = path.read_bytes()
    at, body, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + length]
        if zlib.crc32(kind + content) != struct.unpack_from(">I", data, at + 8 + length)[0]:
            raise ValueError("checksum")
        size = struct.unpack(">II", content[:8]) if kind == b"IHDR" else size
        body += content if kind == b"IDAT" else b""
        at += 12 + length
    width, height = size
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 1 + 3 * width)
    image = np.zeros((height + 1, width + 1, 3), np.uint16)
    for y in range(height):
        for x in range(width):
            left, up = image[y + 1, x], image[y, x + 1]
            before = {1: left, 2: up, 3: (left + up) // 2}[int(rows[y, 0])]
            image[y + 1, x + 1] = (rows[y, 1 + 3 * x : 4 + 3 * x] + before) & 255
    return image[1:, 1:].astype(np.uint8)


class Shapes(unittest.TestCase):
    def test_closed_and_outward(self):
        for name, mesh, volume in (
            ("box", shapes.box((1, 2, 3)), 6),
            ("sphere", shapes.icosphere(1, 4), 4.18879),
            ("cylinder", shapes.cylinder(1, 2), 4 * np.pi),
            ("bumpy", shapes.bumpy(), None),
        ):
            vertices, triangles = mesh
            a, b, c = (vertices[triangles[:, i]].astype(float) for i in range(3))
            inside = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
            self.assertGreater(inside, 0, name)
            if volume:
                self.assertAlmostEqual(inside / volume, 1, delta=0.01, msg=name)
            # opposite edges cancel on a closed surface, vertices that coincide taken as one
            np.testing.assert_allclose(np.cross(b - a, c - a).sum(0), 0, atol=1e-4, err_msg=name)


class Renderer(unittest.TestCase):
    def test_the_nearest_triangle_wins(self):
        generator = np.random.default_rng(2)
        points = generator.random((90, 2)) * [40, 30] - 3
        depth = generator.random(90) + 1
        triangles = np.arange(90).reshape(-1, 3)
        index, z = render.rasterise(points, depth, triangles, 36, 25)
        for y in range(25):
            for x in range(36):
                best, found = np.inf, -1
                for t, (a, b, c) in enumerate(triangles):
                    matrix = np.column_stack([points[b] - points[a], points[c] - points[a]])
                    v, w = np.linalg.solve(matrix, [x + 0.5, y + 0.5] - points[a])
                    here = depth[a] + v * (depth[b] - depth[a]) + w * (depth[c] - depth[a])
                    if v >= 0 and w >= 0 and v + w <= 1 and here < best:
                        best, found = here, t
                self.assertEqual(index[y, x], found, (x, y))
                if found >= 0:
                    self.assertAlmostEqual(z[y, x], best, places=4)

    def test_a_picture_shows_the_body_and_its_shadow(self):
        ball = shapes.icosphere(0.5, 3)
        red = render.Surface(ball[0] + np.float32([0, 0, 0.5]), ball[1], np.array([0.8, 0.05, 0.05]))
        image = render.draw([red], render.Camera((0, -5, 2), (0, 0, 0.4)), 64, 48).astype(int)
        is_red = image[..., 0] > 2 * image[..., 2] + 20
        self.assertTrue(is_red[24, 32])
        self.assertTrue(0.03 < is_red.mean() < 0.4)
        floor = image[~is_red].sum(1)
        self.assertLess(floor.min(), 0.75 * np.median(floor))

    def test_pictures_are_written_as_they_are(self):
        image = np.random.default_rng(1).integers(0, 256, (7, 9, 3)).astype(np.uint8)
        image[3:] = np.arange(9)[None, :, None]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.png"
            render.write_png(path, image)
            np.testing.assert_array_equal(read_png(path), image)


class Examples(unittest.TestCase):
    def test_drop(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [
                    sys.executable,
                    str(ROOT / "examples" / "drop.py"),
                    "--out",
                    folder,
                    "--frames",
                    "3",
                    "--particles",
                    "300",
                    "--width",
                    "24",
                ],
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            meshes = sorted(Path(folder).glob("*.ply"))
            self.assertEqual(len(meshes), 4)
            self.assertTrue((Path(folder) / "drop.png").is_file())
            header, _, data = meshes[-1].read_bytes().partition(b"end_header\n")
            self.assertIn(b"element vertex 10242", header)
            heights = np.frombuffer(data, [("xyz", "<f4", 3), ("rgb", "u1", 3)], 10242)["xyz"]
            self.assertTrue(np.isfinite(heights).all() and heights[:, 2].min() > 0)


class Pictures(unittest.TestCase):
    """Strips that the README shows are small and of examples that there are; their scripts are run in
    a Blender by tests/blender/test_cli_examples.py."""

    def test_every_example_has_a_picture_in_the_readme(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        names = re.search(r'^IN_BLENDER="(.*)"$', (ROOT / "examples" / "run").read_text(), re.M).group(1).split()
        self.assertGreaterEqual(len(names), 7)
        for name in [*names, "drop"]:
            self.assertTrue((ROOT / "examples" / f"{name}.py").is_file(), name)
            picture = ROOT / "examples" / "pictures" / f"{name}.png"
            self.assertIn(f"](examples/pictures/{name}.png)", readme)
            head = picture.read_bytes()[:24]
            self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n", name)
            self.assertLess(picture.stat().st_size, 300_000, name)
            if name != "drop":
                width, height = struct.unpack(">II", head[16:])
                self.assertTrue(width > 4 * height > 400, (name, width, height))

    def test_run_names_what_there_is(self):
        done = subprocess.run(["bash", str(ROOT / "examples" / "run"), "nothing"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no example 'nothing'", done.stderr)


if __name__ == "__main__":
    unittest.main()
