# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip, installed from the command line, is an enabled add-on whose library works in this Blender."""

import re
from pathlib import Path

import bpy
import window
from window import addon


def test_is_installed_and_enabled(w):
    said = Path("home", "install.log").read_text()
    assert "install-file exit code 0" in said and "rror" not in said, said
    assert window.PACKAGE in bpy.context.preferences.addons, said
    yield


def test_library_is_the_wheels(w):
    library = addon("solver.library").load()
    assert "/site-packages/pliant_native/" in library.pliant_path, library.pliant_path
    assert re.match(r"\d+\.\d+\.\d+", library.pliant_version().decode())
    assert "zstd" in library.pliant_build_info().decode()
    yield


def test_body_falls(w):
    solver = addon("solver")
    mesh = bpy.data.objects["Cube"].data
    mesh.calc_loop_triangles()
    with solver.Scene(threads=2) as scene:
        body = scene.add_body(
            [v.co[:] for v in mesh.vertices], [t.vertices[:] for t in mesh.loop_triangles], sample={"count": 200}
        )
        before = body.info.centre[2]
        scene.advance(dt=1 / 24)
        assert body.info.centre[2] < before
    yield


def test_is_disabled_and_enabled_again(w):
    with w.context():
        bpy.ops.preferences.addon_disable(module=window.PACKAGE)
        assert window.PACKAGE not in bpy.context.preferences.addons
    yield 0.3
    with w.context():
        bpy.ops.preferences.addon_enable(module=window.PACKAGE)
    assert window.PACKAGE in bpy.context.preferences.addons
    yield 0.3
