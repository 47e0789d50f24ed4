# SPDX-License-Identifier: GPL-3.0-or-later
"""A .blend that names a cache folder outside of its own: the question, and what is said without it."""

import tempfile
from pathlib import Path

import bpy
import stage
from window import addon

LONG = "a/folder/with/a/rather/long/name/as/studios/have/them/on/their/shared/disks/shot_0170"


def opened(w, place):
    """yield from opened(w, place): the file, as someone else has sent it; its cache folder."""
    outside = place / LONG
    home = place / "home"
    home.mkdir(exist_ok=True)
    yield from stage.soft(w, count=200, smooth=0)
    scene = bpy.context.scene
    scene.frame_end = 4
    scene.pliant.folder = str(outside)
    bpy.ops.wm.save_as_mainfile(filepath=str(home / "theirs.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(home / "theirs.blend"), load_ui=False)
    yield 0.5
    yield from w.sidebar("Pliant")
    yield from w.properties_tab("PHYSICS")
    return outside


def call(w, name, **arguments):
    with w.context("VIEW_3D"):
        getattr(bpy.ops.pliant, name)("INVOKE_DEFAULT", **arguments)


def baked():
    return addon("blender.folders").baked_range(bpy.context.scene)


def running():
    return addon("blender.runs").running(bpy.context.scene)


def test_bake_and_clear_ask_first(w):
    with tempfile.TemporaryDirectory() as place:
        outside = yield from opened(w, Path(place))
        yield from w.move(*w.inside("VIEW_3D", 0.4, 0.5))
        call(w, "bake")
        yield 1.0
        w.screenshot("question")
        yield from w.key("Escape")
        yield 0.5
        assert running() is None and not outside.exists()
        yield from w.move(*w.inside("VIEW_3D", 0.4, 0.5))
        call(w, "bake")
        yield 1.0
        yield from w.key("Return")
        yield lambda: baked() == (1, 4) and running() is None
        assert (outside / "bake.json").is_file()
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath, load_ui=False)
        yield 0.5
        for name, arguments in (("clear", {}), ("make_result", {"format": "MDD", "target": "Suzanne"})):
            yield from w.move(*w.inside("VIEW_3D", 0.4, 0.5))
            call(w, name, **arguments)
            yield 1.0
            w.screenshot(f"question-{name}")
            yield from w.key("Escape")
            yield 0.5
            assert baked() == (1, 4) and not (outside / "00-Suzanne.mdd").exists()
        yield from w.move(*w.inside("VIEW_3D", 0.4, 0.5))
        call(w, "make_result", format="MDD", target="Suzanne")
        yield 1.0
        yield from w.key("Return")
        yield lambda: (outside / "00-Suzanne.mdd").exists()
        yield from w.move(*w.inside("VIEW_3D", 0.4, 0.5))
        call(w, "clear")
        yield 1.0
        yield from w.key("Return")
        yield lambda: not outside.exists()


def test_sentences_are_shown_whole(w):
    with tempfile.TemporaryDirectory() as place:
        outside = yield from opened(w, Path(place))
        outside.mkdir(parents=True)
        (outside / "03-cloth.pc2").write_text("mine")
        addon("blender.folders").allow(bpy.context.scene)
        yield from w.move(*w.inside("VIEW_3D", 0.4, 0.5))
        try:
            call(w, "bake")
        except RuntimeError:
            pass
        yield 2.0
        w.screenshot("refused")
        assert (outside / "03-cloth.pc2").read_text() == "mine"
        yield from w.key("Escape")
