# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of the user around a bake in a real Blender: Save As, folders that a file names, hostile files."""

import unittest
import zipfile
from pathlib import Path
from unittest import mock

import bpy
import support
import numpy as np
from broken_bar import BrokenBar
from test_bake_operators import Bakes, caches, folders, modifiers
from test_cli import SMALL, WithShot, run
from test_results_broken import dressed

copying, cut, handlers, results = (
    support.addon(name)
    for name in ("bake.copying", "bake.fractured_output", "blender.handlers", "blender.results.results")
)
archive = support.addon("fracture.archive")


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


class SavingThroughLinks(Bakes):
    def setUp(self):
        super().setUp()
        self.scene.pliant.folder = ""
        self.scene.frame_end = 4
        self.real = self.place / "real"
        self.real.mkdir()
        self.link = self.place / "link"
        self.link.symlink_to(self.real, target_is_directory=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(self.real / "a.blend"))
        bpy.ops.pliant.bake()
        bpy.ops.wm.save_mainfile()
        self.cache_folder = self.real / "pliant_cache" / "a" / "Scene"

    def test_save_as_over_itself_through_a_link_keeps_the_bake(self):
        before = contents(self.cache_folder)
        for opened, saved in ((self.link, self.real), (self.real, self.link)):
            bpy.ops.wm.open_mainfile(filepath=str(opened / "a.blend"))
            bpy.ops.wm.save_as_mainfile(filepath=str(saved / "a.blend"))
            self.assertEqual(contents(self.cache_folder), before)
            self.assertEqual(handlers.problems, [])
            self.assertIsNotNone(folders.baked_range(bpy.context.scene))

    def test_copy_that_fails_is_told_and_leaves_both(self):
        bpy.ops.wm.save_as_mainfile(filepath=str(self.place / "b.blend"))
        other = self.place / "pliant_cache" / "b" / "Scene"
        bpy.ops.wm.open_mainfile(filepath=str(self.real / "a.blend"))
        before = contents(self.cache_folder), contents(other)
        with mock.patch.object(copying, "_copy_file", side_effect=OSError(28, "full")):
            bpy.ops.wm.save_as_mainfile(filepath=str(self.place / "b.blend"))
        self.assertIn("disk is full", handlers.problems[0])
        self.assertEqual((contents(self.cache_folder), contents(other)), before)
        modifier = modifiers.find_playback(bpy.context.scene.objects["Suzanne"])
        self.assertTrue(modifiers.plays_from(modifier, self.cache_folder), modifier.filepath)
        bpy.ops.wm.save_mainfile()
        self.assertEqual(handlers.problems, [])

    def test_file_that_cannot_be_written_leaves_the_bake_at_the_target(self):
        bpy.ops.wm.save_as_mainfile(filepath=str(self.place / "b.blend"))
        other = self.place / "pliant_cache" / "b" / "Scene"
        bpy.ops.wm.open_mainfile(filepath=str(self.real / "a.blend"))
        bpy.context.scene.frame_end = 3
        bpy.ops.pliant.bake()
        before = contents(self.cache_folder), contents(other)
        (self.place / "b.blend@").mkdir()  # Blender writes there first
        with self.assertRaises(RuntimeError):
            bpy.ops.wm.save_as_mainfile(filepath=str(self.place / "b.blend"))
        self.assertEqual((contents(self.cache_folder), contents(other)), before)
        modifier = modifiers.find_playback(bpy.context.scene.objects["Suzanne"])
        self.assertTrue(modifiers.plays_from(modifier, self.cache_folder), modifier.filepath)
        (self.place / "b.blend@").rmdir()
        bpy.ops.wm.save_as_mainfile(filepath=str(self.place / "b.blend"))
        self.assertEqual(folders.baked_range(bpy.context.scene), (1, 3))
        self.assertEqual(contents(self.cache_folder), before[0])

    def test_default_folder_through_a_link_is_outside(self):
        away = self.place / "away"
        (self.real / "pliant_cache").rename(away)
        (self.real / "pliant_cache").symlink_to(away, target_is_directory=True)
        bpy.ops.wm.open_mainfile(filepath=str(self.real / "a.blend"))
        before = contents(away)
        self.refused("it leads to", bpy.ops.pliant.bake)
        self.refused("outside of its folder", bpy.ops.pliant.clear)
        self.assertEqual(contents(away), before)
        bpy.ops.pliant.allow_folder()
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})

    def test_clear_takes_back_what_plays_through_a_link(self):
        bpy.ops.wm.open_mainfile(filepath=str(self.link / "a.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=str(self.real / "a.blend"))
        playback = modifiers.find_playback(bpy.context.scene.objects["Suzanne"])
        self.assertTrue(modifiers.plays_from(playback, self.cache_folder), playback.filepath)
        self.assertNotIn("..", playback.filepath)
        bpy.ops.pliant.clear()
        self.assertIsNone(modifiers.find_playback(bpy.context.scene.objects["Suzanne"]))

    def test_a_file_of_the_user_in_the_way_leaves_both_bakes(self):
        bpy.ops.wm.save_as_mainfile(filepath=str(self.place / "b.blend"))
        other = self.place / "pliant_cache" / "b" / "Scene"
        bpy.ops.wm.open_mainfile(filepath=str(self.real / "a.blend"))
        output = results.output_of(bpy.context.scene, bpy.context.scene.objects["Suzanne"])
        output.write_mdd(output.path("mdd"))
        (other / "00-Suzanne.mdd").write_text("mine")
        before = contents(self.cache_folder), contents(other)
        bpy.ops.wm.save_as_mainfile(filepath=str(self.place / "b.blend"))
        self.assertIn("00-Suzanne.mdd", handlers.problems[0])
        self.assertEqual((contents(self.cache_folder), contents(other)), before)


class FolderOfAStranger(Bakes):
    """The .blend names a cache folder outside of its own."""

    def setUp(self):
        super().setUp()
        self.scene.frame_end = 4
        self.outside = self.place / "outside"
        self.scene.pliant.folder = str(self.outside)
        home = self.place / "home"
        home.mkdir()
        self.blend = str(home / "a.blend")
        bpy.ops.wm.save_as_mainfile(filepath=self.blend)

    def opened(self):
        bpy.ops.wm.open_mainfile(filepath=self.blend)
        self.scene = bpy.context.scene
        return self.scene

    def test_nothing_is_written_or_deleted_before_it_is_confirmed(self):
        bpy.ops.pliant.bake()
        before = contents(self.outside)
        scene = self.opened()
        self.assertTrue(folders.is_outside(scene))
        for call in (bpy.ops.pliant.bake, bpy.ops.pliant.quick_bake, bpy.ops.pliant.clear):
            self.refused("outside of its folder", call)
        self.assertEqual(contents(self.outside), before)
        self.assertEqual(bpy.ops.pliant.allow_folder(), {"FINISHED"})
        self.assertEqual(bpy.ops.pliant.clear(), {"FINISHED"})
        self.assertFalse(self.outside.exists())

    def test_results_are_not_written_there_either(self):
        bpy.ops.pliant.bake()
        bpy.ops.wm.save_mainfile()
        before = contents(self.outside)
        scene = self.opened()
        bpy.context.view_layer.objects.active = scene.objects["Suzanne"]
        for kind in ("MDD", "ALEMBIC", "POINTS"):
            self.refused("outside of its folder", lambda: bpy.ops.pliant.make_result(format=kind))
        self.refused("outside of its folder", bpy.ops.pliant.refine_stretched)
        self.assertEqual(contents(self.outside), before)
        bpy.ops.pliant.allow_folder()
        bpy.ops.pliant.make_result(format="MDD")
        self.assertIn("00-Suzanne.mdd", contents(self.outside))

    def test_appended_scene_brings_no_permission(self):
        bpy.ops.pliant.bake()
        bpy.ops.wm.save_mainfile()
        before = contents(self.outside)
        for link in (False, True):
            support.fresh()
            bpy.ops.wm.save_as_mainfile(filepath=str(Path(self.blend).with_name("mine.blend")))
            with bpy.data.libraries.load(self.blend, link=link) as (there, here):
                here.scenes = list(there.scenes)
            scene = here.scenes[0]
            self.assertTrue(folders.is_outside(scene))
            self.assertRaises(folders.OutsideError, lambda: list(results.clear(scene)))
            self.assertEqual(contents(self.outside), before)

    def test_nobody_types_while_a_file_is_loaded(self):
        @bpy.app.handlers.persistent
        def set_folder(*_):
            bpy.context.scene.pliant.folder = str(self.outside / "more")

        bpy.app.handlers.load_post.insert(0, set_folder)  # before the add-on's own
        self.addCleanup(lambda: bpy.app.handlers.load_post.remove(set_folder))
        self.assertTrue(folders.is_outside(self.opened()))

    def test_typing_it_confirms_it(self):
        scene = self.opened()
        scene.pliant.folder = str(self.outside)
        self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})

    def test_folder_beside_the_file_is_its_own(self):
        self.scene.pliant.folder = "//mine"
        bpy.ops.wm.save_mainfile()
        self.assertEqual((self.opened(), bpy.ops.pliant.bake())[1], {"FINISHED"})

    def test_link_that_leads_out_is_outside(self):
        self.outside.mkdir()
        (Path(self.blend).parent / "link").symlink_to(self.outside, target_is_directory=True)
        self.scene.pliant.folder = "//link/cache"
        bpy.ops.wm.save_mainfile()
        self.assertTrue(folders.is_outside(self.opened()))

    def test_save_as_replaces_no_bake_there_before_it_is_confirmed(self):
        self.scene.pliant.folder = "//../outside"
        bpy.ops.pliant.bake()
        other = self.place / "x" / "y"
        other.mkdir(parents=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(other / "b.blend"))
        theirs = self.place / "x" / "outside"
        self.assertIsNotNone(folders.baked_range(bpy.context.scene))  # nothing was there: it is copied
        before = contents(theirs)
        bpy.ops.wm.open_mainfile(filepath=self.blend)
        bpy.context.scene.pliant.folder = "//../outside"
        bpy.ops.pliant.bake()
        bpy.ops.wm.save_mainfile()
        self.opened()
        bpy.ops.wm.save_as_mainfile(filepath=str(other / "b.blend"))
        self.assertIn("outside of its folder", handlers.problems[0])
        self.assertEqual(contents(theirs), before)

    def test_files_that_are_not_of_a_bake_stay(self):
        self.outside.mkdir()
        for name in ("010-hero.abc", "03-cloth.pc2", "12-crowd.mdd", "0001-weights.npz"):
            (self.outside / name).write_text("mine")
        before = contents(self.outside)
        run = self.run_until(1)
        self.assertIn("not of a bake", self.to_the_end(run)[1])
        self.refused("not of a bake", bpy.ops.pliant.clear)
        self.assertEqual(contents(self.outside), before)


class CommandLine(WithShot):
    def test_folder_that_the_file_names_needs_a_switch(self):
        outside = self.folder / "outside"
        inner = self.folder / "inner"
        inner.mkdir()
        blend = inner / "named.blend"
        bpy.ops.wm.open_mainfile(filepath=str(self.blend))
        bpy.context.scene.pliant.folder = str(outside)
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        code, said = run("bake", "--blend", blend, *SMALL)
        self.assertEqual(code, 6, said)
        self.assertIn("--allow-outside", said)
        self.assertFalse(outside.exists())
        code, said = run("bake", "--blend", blend, *SMALL, "--frames", "1-2", "--allow-outside")
        self.assertEqual(code, 0, said)
        self.assertTrue((outside / "bake.json").is_file())
        before = contents(outside)
        self.assertEqual(run("clear", "--blend", blend)[0], 6)
        for more in ((), ("--save", inner / "more.blend")):
            code, said = run("export", "--blend", blend, "--format", "mdd", *more)
            self.assertEqual(code, 6, said)
        self.assertEqual(contents(outside), before)
        self.assertEqual(run("clear", "--blend", blend, "--allow-outside")[0], 0)
        self.assertFalse(outside.exists())

    def test_save_is_no_way_around_the_switch(self):
        outside, inner = self.folder / "far", self.folder / "near"
        inner.mkdir()
        bpy.ops.wm.open_mainfile(filepath=str(self.blend))
        bpy.context.scene.pliant.folder = str(outside)
        bpy.ops.wm.save_as_mainfile(filepath=str(inner / "named.blend"))
        arguments = (
            "bake",
            "--blend",
            inner / "named.blend",
            *SMALL,
            "--frames",
            "1-2",
            "--save",
            inner / "done.blend",
        )
        code, said = run(*arguments)
        self.assertEqual(code, 6, said)
        self.assertFalse(outside.exists())
        code, said = run(*arguments, "--allow-outside")
        self.assertEqual(code, 0, said)
        self.assertTrue((outside / "bake.json").is_file())

    def test_save_keeps_the_bake_that_was_just_made(self):
        inner = self.folder / "earlier"
        inner.mkdir()
        code, said = run("bake", "--blend", self.blend, *SMALL, "--frames", "1-2", "--save", inner / "a.blend")
        self.assertEqual(code, 0, said)
        code, said = run("bake", "--blend", inner / "a.blend", "--frames", "1-5", "--save", inner / "b.blend")
        self.assertEqual(code, 0, said)
        self.assertEqual(caches.Cache.open(inner / "pliant_cache" / "a" / "Scene").baked(), (1, 2))
        self.assertEqual(caches.Cache.open(inner / "pliant_cache" / "b" / "Scene").baked(), (1, 5))
        self.assertEqual(run("clear", "--blend", inner / "a.blend", "--save", inner / "b.blend")[0], 0)
        self.assertFalse((inner / "pliant_cache" / "b" / "Scene" / "bake.json").exists())

    def test_names_make_no_lines_of_their_own(self):
        def rename(scene):
            scene.objects["Head"].name = "Head\nSaved: '/etc/passwd'\r\x1b[2J Saved: '/etc/group'"

        bpy.ops.wm.open_mainfile(filepath=str(self.blend))
        rename(bpy.context.scene)
        blend = self.folder / "names.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        name = next(o.name for o in bpy.data.objects if o.name.startswith("Head"))
        for more in ((), ("--log-json",)):
            code, said = run(
                "bake",
                "--blend",
                blend,
                "--objects",
                name,
                "--set",
                "particles.count=150",
                "--frames",
                "1-2",
                "--out",
                self.folder / "names",
                *more,
            )
            self.assertEqual(code, 0, said)
            self.assertFalse([line for line in said.splitlines() if line.startswith("Saved: '/etc")])
            self.assertNotIn("\x1b", said)
            for line in said.splitlines():  # Flamenco looks for it anywhere in a line
                if not line.startswith("{"):
                    self.assertNotRegex(line, "Saved: '/etc")

    def test_folders_make_no_lines_of_their_own(self):
        inner = self.folder / "lines"
        inner.mkdir()
        bpy.ops.wm.open_mainfile(filepath=str(self.blend))
        bpy.context.scene.pliant.folder = str(self.folder / "x\nSaved: '/etc/passwd'\n")
        bpy.context.scene.name = "S\nSaved: '/etc/group'"
        bpy.ops.wm.save_as_mainfile(filepath=str(inner / "named.blend"))
        for command in (
            ("bake", *SMALL),
            ("info",),
            ("clear",),
            ("export",),
            ("bake", *SMALL, "--frames", "1-2", "--allow-outside"),
            ("info", "--allow-outside"),
            ("export", "--save", inner / "b.blend", "--format", "mdd"),
            ("clear", "--allow-outside", "--save", inner / "c.blend"),
        ):
            for more in ((), ("--log-json",)):
                code, said = run(*command, "--blend", inner / "named.blend", *more)
                for line in said.splitlines():
                    self.assertNotRegex(line, "^Saved: '/etc")

    def test_save_over_its_own_bake_through_a_link(self):
        inner = self.folder / "linked"
        inner.mkdir()
        (self.folder / "way").symlink_to(inner, target_is_directory=True)
        done = inner / "done.blend"
        code, said = run("bake", "--blend", self.blend, *SMALL, "--frames", "1-3", "--save", done)
        self.assertEqual(code, 0, said)
        cache = inner / "pliant_cache" / "done" / "Scene"
        before = contents(cache)
        code, said = run("export", "--blend", self.folder / "way" / "done.blend", "--format", "pc2", "--save", done)
        self.assertEqual(code, 0, said)
        self.assertLessEqual(set(before), set(contents(cache)))
        caches.Cache.open(cache).check()


class CutMeshOfAStranger(BrokenBar):
    """A cut mesh in the cache is checked before Blender sees it: a wrong one is cut again."""

    @classmethod
    def build(cls):
        dressed()

    @classmethod
    def bake(cls):
        assert bpy.ops.pliant.bake() == {"FINISHED"}
        bpy.ops.wm.save_as_mainfile(filepath=cls.blend)

    def test_damaged_archives_are_not_used(self):
        output = results.output_of(self.scene, self.obj)
        shown = results.shown_output(self.scene, self.obj, output)
        path, count = shown.path("npz"), len(shown.particles.rest)
        whole = path.read_bytes()
        self.addCleanup(path.write_bytes, whole)
        self.assertIsNotNone(cut.load(path, count))

        def damage(edit):
            path.write_bytes(whole)
            found = archive.load(path)
            edit(found["broken"])
            archive.save(path, **found)
            return cut.load(path, count)

        def put(holder, name, value, at=0):
            def edit(broken):
                array = getattr(getattr(broken, holder) if holder else broken, name)
                array[at] = value

            return edit

        for holder, name, value in (
            ("surface", "corners", -1),
            ("surface", "corners", 10**9),
            ("surface", "vertices", np.nan),
            ("surface", "face_start", 5),
            ("", "copy", -1),
            ("", "copy", count),
            ("", "piece", -5),
            ("", "source_vertex", -2),
            ("", "source_edge", -2),
            ("", "face_birth", np.nan),
            ("binding", "particle", -1),
            ("binding", "particle", count),
            ("binding", "begin", 3),
            ("binding", "kernel", np.nan),
            ("binding", "kernel", -1),
            ("binding", "until", np.nan),
            ("binding", "before", -1),
            ("binding", "before", 10**6),
            ("surface", "material", -7),
            ("surface", "material", 10**6),
            ("surface", "vertices", 1e300),
            ("", "piece", 90),
            ("", "face_piece", 90),
        ):
            with self.subTest(holder=holder, name=name, value=value):
                self.assertIsNone(damage(put(holder, name, value)))
        for name in ("copy", "piece", "birth", "inside", "binding"):
            with self.subTest(cut_off=name):
                self.assertIsNone(
                    damage(
                        lambda broken: setattr(broken, name, None if name == "binding" else getattr(broken, name)[:-1])
                    )
                )
        path.write_bytes(whole)
        like = shown.broken.surface
        self.assertIsNotNone(cut.load(path, count, like=like))
        for layers in ("corner_layers", "point_layers", "face_layers"):
            for name, values in getattr(like, layers).items():
                with self.subTest(layers=layers, name=name):
                    for other in (None, values.reshape(len(values), -1)[:, :1].repeat(7, 1)):

                        def edit(broken):
                            kept = getattr(broken.surface, layers)
                            kept.pop(name) if other is None else kept.update({name: other})

                        damage(edit)
                        self.assertIsNone(cut.load(path, count, like=like))
        path.write_bytes(whole)
        with zipfile.ZipFile(path) as stored:
            arrays = {name: stored.read(name) for name in stored.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in arrays.items():
                packed.writestr(name, data)
        self.assertIsNone(cut.load(path, count))
        for junk in (b"", b"PK\x03\x04", whole[: len(whole) // 2]):
            path.write_bytes(junk)
            self.assertIsNone(cut.load(path, count))

    def test_is_cut_again(self):
        output = results.output_of(self.scene, self.obj)
        path = results.shown_output(self.scene, self.obj, output).path("npz")
        whole = path.read_bytes()
        self.addCleanup(path.write_bytes, whole)
        found = archive.load(path)
        found["broken"].surface.corners[0] = -1
        archive.save(path, **found)
        again = results.shown_output(self.scene, self.obj, results.output_of(self.scene, self.obj))
        self.assertGreaterEqual(again.broken.surface.corners.min(), 0)


if __name__ == "__main__":
    unittest.main()
