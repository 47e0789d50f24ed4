# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview colours meshes by cluster, follows changes, and restores meshes."""

import os
import tempfile
import unittest

import bpy
import support
import numpy as np

session = support.addon("preview.session")
build = support.addon("preview.build")
gather = support.addon("preview.gather")
palette = support.addon("preview.palette")
solver = support.addon("solver")
ATTRIBUTE = "Pliant Clusters"


def soft(kind="monkey", count=400, **settings):
    getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**settings)
    obj = bpy.context.object
    obj.pliant.role = "BODY"
    obj.pliant.particles.count = count
    return obj


def colours(mesh):
    values = np.empty(len(mesh.vertices) * 4, np.float32)
    mesh.attributes[ATTRIBUTE].data.foreach_get("color", values)
    return values.reshape(-1, 4)


class Preview(unittest.TestCase):
    def setUp(self):
        support.fresh()

    def tearDown(self):
        session.stop()

    def test_each_vertex_has_the_colour_of_its_nearest_cluster(self):
        obj = soft()
        obj.location = (3, -2, 5)
        obj.scale = (1, 2, 0.5)
        bpy.context.view_layer.update()
        bpy.ops.pliant.preview()
        body = session.shown(obj)
        origin = np.array(session.current().outcome.origin)
        expected = palette.linear_from_srgb(body.colours)
        for vertex, colour in list(zip(obj.data.vertices, colours(obj.data)))[::7]:
            place = np.array(obj.matrix_world @ vertex.co) - origin
            distances = np.linalg.norm(body.centres - place, axis=1)
            nearest = [i for i in range(len(distances)) if distances[i] < distances.min() + 1e-4]
            self.assertTrue(any(np.allclose(colour[:3], expected[i], atol=1e-4) for i in nearest))
            self.assertEqual(colour[3], 1)
        self.assertGreater(len(np.unique(colours(obj.data), axis=0)), 5)

    def bake_flowing(self):
        """A ball of clay that falls on its lower side; the cache."""
        scene = bpy.context.scene
        obj = soft("ico_sphere", 500, subdivisions=3, location=(0, 0, 1.2))
        support.addon("blender.presets").apply(obj, "Clay")
        obj.pliant.material.recluster_condition = 1.1
        bpy.ops.mesh.primitive_plane_add(size=20)
        bpy.context.object.pliant.role = "COLLIDER"
        bpy.context.view_layer.objects.active = obj
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        scene.frame_end, scene.pliant.folder = 20, folder.name
        bpy.ops.pliant.bake()
        return obj, support.addon("blender.folders").cache_of(scene)

    def test_colours_tell_where_it_has_flowed(self):
        obj, cache = self.bake_flowing()
        scene = bpy.context.scene
        scene.pliant.preview_colour_by = "PLASTIC"
        scene.frame_set(1)
        bpy.ops.pliant.preview(wait=True)
        untouched = colours(obj.data)
        self.assertEqual(len(np.unique(untouched, axis=0)), 1, "nothing has flowed yet")
        scene.frame_set(20)
        flowed = colours(obj.data)
        self.assertGreater(len(np.unique(flowed, axis=0)), 20)
        with cache.open_store() as store:
            strains = store.read(0, 20, solver.Channel.PLASTIC_STRAIN)
            places = store.read(0, 1, solver.Channel.POSITION, origin=cache.origin)
        near = palette.nearest(cache.rest(cache.bodies[0]), places)
        order = np.argsort(strains[near])
        redness = flowed[:, 0] - flowed[:, 2]
        self.assertGreater(redness[order[-20:]].mean(), redness[order[:20]].mean() + 0.1)
        scene.pliant.preview_colour_by = "RENEWED"
        session.finish()
        anew = colours(obj.data)
        with cache.open_store() as store:
            share = store.read(0, 20, solver.Channel.RENEWED)
        self.assertGreater(share.max(), 0.5, "no cluster was made anew")
        grey = np.ptp(anew[:, :3], axis=1) < 1e-3
        np.testing.assert_array_equal(grey, share[near] < 1e-3)
        scene.frame_set(1)
        self.assertEqual(len(np.unique(colours(obj.data), axis=0)), 1, "all are the first ones")
        scene.pliant.preview_colour_by = "PLASTIC"
        session.finish()
        np.testing.assert_array_equal(colours(obj.data), untouched)
        scene.pliant.preview_colour_by = "CLUSTERS"
        session.finish()
        self.assertGreater(len(np.unique(colours(obj.data), axis=0)), 5)
        bpy.ops.pliant.preview()
        self.assertNotIn(ATTRIBUTE, obj.data.attributes)

    def test_without_a_bake_it_says_so_and_shows_clusters(self):
        obj = soft()
        with tempfile.TemporaryDirectory() as folder:
            bpy.context.scene.pliant.folder = folder
            bpy.context.scene.pliant.preview_colour_by = "PLASTIC"
            bpy.ops.pliant.preview(wait=True)
            self.assertIn("bake", session.current().refused[obj.name])
            self.assertGreater(len(np.unique(colours(obj.data), axis=0)), 5)

    def test_the_numbers_are_the_librarys(self):
        obj = soft()
        obj.pliant.clusters.levels = 2
        bpy.ops.pliant.preview()
        outcome = session.current().outcome
        request, _ = gather.request(bpy.context.scene)
        with solver.Scene(threads=1) as scene:
            source = request.sources[0]
            scene.add_body(source.vertices, source.triangles, **source.settings)
            info = scene.info
        self.assertEqual(outcome.particles, info.particles)
        self.assertEqual(outcome.clusters, info.clusters)
        self.assertEqual(outcome.memberships, info.memberships)
        self.assertGreater(outcome.memory, 10_000)
        self.assertGreater(outcome.seconds, 0)

    def test_the_estimate_of_disk_is_near_the_bake(self):
        obj = soft(count=800)
        bpy.ops.mesh.primitive_plane_add(size=20, location=(0, 0, -2))
        bpy.context.object.pliant.role = "COLLIDER"
        bpy.context.scene.frame_end = 20
        bpy.context.view_layer.objects.active = obj
        bpy.ops.pliant.preview()
        guess = session.current().outcome.disk
        with tempfile.TemporaryDirectory() as folder:
            bpy.context.scene.pliant.folder = os.path.join(folder, "cache")
            bpy.ops.pliant.bake()
            real = support.addon("ui.status").cached(bpy.context.scene).bytes
        self.assertLess(abs(guess - real), 0.5 * real, f"{guess} guessed, {real} written")

    def test_colours_are_the_same_in_every_run(self):
        obj = soft()
        bpy.ops.pliant.preview()
        first = colours(obj.data)
        bpy.ops.pliant.preview()
        self.assertIsNone(session.current())
        bpy.ops.pliant.preview()
        np.testing.assert_array_equal(colours(obj.data), first)

    def test_switched_off_everything_is_as_it_was(self):
        obj = soft()
        mesh = obj.data
        for name in ("one", "two"):
            mesh.color_attributes.new(name, "BYTE_COLOR", "CORNER")
        mesh.color_attributes.active_color_name = "two"
        mesh.color_attributes.render_color_index = 0
        before = [(a.name, a.data_type, a.domain) for a in mesh.attributes]
        bpy.ops.pliant.preview()
        self.assertEqual(mesh.color_attributes.active_color_name, ATTRIBUTE)
        bpy.ops.pliant.preview()
        self.assertEqual([(a.name, a.data_type, a.domain) for a in mesh.attributes], before)
        self.assertEqual(mesh.color_attributes.active_color_name, "two")
        self.assertEqual(mesh.color_attributes.render_color_index, 0)

    def test_changed_settings_give_other_clusters(self):
        obj = soft()
        bpy.ops.pliant.preview()
        before = session.shown(obj).level_clusters[0]
        obj.pliant.clusters.count_mode = "COUNT"
        obj.pliant.clusters.count = 40
        self.assertTrue(session.current().changed_at)
        session.finish()
        self.assertNotEqual(session.shown(obj).level_clusters[0], before)

    def test_nothing_is_built_for_nothing(self):
        obj = soft()
        bpy.ops.pliant.preview()
        built = session.current().outcome
        obj.location.x += 4
        bpy.context.view_layer.update()
        session.touch()
        session.finish()
        self.assertIs(session.current().outcome, built)
        obj.data.vertices[0].co.x += 0.5
        session.touch()
        session.finish()
        self.assertIsNot(session.current().outcome, built)

    def test_painting_does_not_go_round_in_circles(self):
        obj = soft()
        bpy.ops.pliant.preview()
        paints = []
        colours_module = support.addon("preview.colours")
        paint = colours_module.paint
        colours_module.paint = lambda *arguments: paints.append(arguments) or paint(*arguments)
        try:
            for _ in range(3):
                bpy.context.view_layer.update()
                session.touch()
                session.finish()
            self.assertEqual(paints, [])
            obj.data.attributes.remove(obj.data.attributes[ATTRIBUTE])  # as an undo might
            session.touch()
            session.finish()
            self.assertEqual(len(paints), 1)
        finally:
            colours_module.paint = paint

    def test_levels(self):
        obj = soft(count=1500)
        obj.pliant.clusters.levels = 2
        bpy.context.scene.pliant.preview_level = 1
        bpy.ops.pliant.preview()
        body = session.shown(obj)
        self.assertEqual(len(body.centres), body.level_clusters[1])
        self.assertLess(len(body.centres), body.level_clusters[0])
        bpy.context.scene.pliant.preview_level = 9  # more than there are: the coarsest
        session.finish()
        self.assertEqual(session.shown(obj).level, 1)

    def test_contact_shapes_where_they_are_wanted(self):
        obj = soft("uv_sphere")
        bpy.ops.pliant.preview()
        self.assertIsNone(session.shown(obj).proxies)
        bpy.context.scene.pliant.preview_proxies = True
        session.finish()
        body = session.shown(obj)
        shapes = body.proxies
        np.testing.assert_array_equal(shapes.centres, body.centres)
        proxies = support.addon("preview.proxies")
        corners, light, whose = proxies.corners(shapes.centres, shapes.reach)
        self.assertTrue(np.isfinite(corners).all() and (light > 0).all() and (light <= 1.001).all())
        # every shape is within its ball, and some are cut
        away = corners - shapes.centres[whose, None]
        reach = np.linalg.norm(away, axis=2) / shapes.radii[whose, None]
        self.assertLess(reach.max(), 1.0001)
        self.assertLess(reach.min(), 0.9)
        # they are closed
        volume = np.zeros(len(shapes.centres))
        np.add.at(volume, whose, np.einsum("ij,ij->i", away[:, 0], np.cross(away[:, 1], away[:, 2])) / 6)
        self.assertTrue((volume > 0).all())
        self.assertTrue((volume < 4.19 * shapes.radii**3).all())
        # nothing is drawn beyond where others touch: half a spacing outside of the particles
        outer = np.linalg.norm(corners, axis=2).max()
        most = np.linalg.norm(body.particles, axis=1).max()
        self.assertLess(outer, most + 0.8 * body.spacing)
        self.assertGreater(outer, most + 0.2 * body.spacing)

    def test_contact_shapes_end_where_bodies_touch(self):
        proxies = support.addon("preview.proxies")
        centres = np.array(((0, 0, 0), (0.5, 0, 0)), np.float32)
        radii = np.array((2, 0.25), np.float32)
        far = proxies.reach(centres, radii, lambda points: np.abs(points).max(axis=1) - 1)
        directions, _ = proxies.directions_for(centres)
        cube = 1 / np.abs(directions).max(axis=1)
        np.testing.assert_allclose(far[0], np.minimum(cube, 2), rtol=6e-3)
        np.testing.assert_allclose(far[1], 0.25, rtol=1e-6)

    def test_overlapping_contact_shapes_are_drawn_once(self):
        proxies = support.addon("preview.proxies")
        centres = np.array(((-0.3, 0, 0), (0.4, 0, 0), (5, 0, 0)), np.float32)
        radii = np.array((1, 1.2, 0.5), np.float32)
        far = np.repeat(radii[:, None], len(proxies.directions_for(centres)[0]), axis=1)
        shown = proxies.visible(centres, radii, far)
        corners, _, whose = proxies.corners(centres, far, shown)
        self.assertEqual(len(corners), shown.sum())
        ratio = np.linalg.norm(corners.mean(axis=1)[:, None] - centres, axis=2) / radii
        np.testing.assert_array_equal(ratio.argmin(axis=1), whose)
        self.assertTrue(shown[2].all())  # it is alone
        self.assertTrue((shown[:2].mean(axis=1) > 0.3).all() and not shown[:2].all())

    def test_a_ball_is_closed_and_faces_outward(self):
        points, triangles = support.addon("preview.proxies").ball(2)
        self.assertEqual((len(points), len(triangles)), (162, 320))
        a, b, c = (points[triangles[:, k]] for k in range(3))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
        self.assertAlmostEqual(volume, 4.18879, delta=0.2)

    def test_colours_can_be_left_off(self):
        obj = soft()
        bpy.ops.pliant.preview()
        bpy.context.scene.pliant.preview_colours = False
        session.finish()
        self.assertNotIn(ATTRIBUTE, obj.data.attributes)
        bpy.context.scene.pliant.preview_colours = True
        session.finish()
        self.assertIn(ATTRIBUTE, obj.data.attributes)

    def test_several_bodies_and_those_that_cannot(self):
        first, second = soft(), soft("ico_sphere", subdivisions=3)
        hollow = soft("plane")
        hollow.data.clear_geometry()
        bpy.ops.pliant.preview()
        names = {body.name for body in session.current().outcome.bodies}
        self.assertEqual(names, {first.name, second.name})
        self.assertIn("no faces", session.current().refused[hollow.name])

    def test_a_refused_body_is_a_sentence(self):
        obj = soft("plane")
        obj.pliant.clusters.levels, obj.pliant.clusters.weighting = 2, "MANUAL"
        obj.pliant.clusters.weights = [0.0] * 16
        bpy.ops.pliant.preview()
        self.assertIn("weight", session.current().refused[obj.name])

    def test_a_body_without_a_volume_to_keep_is_shown(self):
        obj = soft("plane")
        obj.pliant.material.use_pressure = True
        bpy.ops.pliant.preview()
        self.assertEqual(session.current().refused, {})
        self.assertTrue(any("keeps no volume" in text for text in session.current().outcome.bodies[0].warnings))

    def test_a_body_that_is_no_longer_one_loses_its_colours(self):
        first, second = soft(), soft()
        bpy.ops.pliant.preview()
        second.pliant.role = "NONE"
        session.finish()
        self.assertIn(ATTRIBUTE, first.data.attributes)
        self.assertNotIn(ATTRIBUTE, second.data.attributes)


class Accidents(unittest.TestCase):
    def setUp(self):
        support.fresh()

    def tearDown(self):
        session.stop()

    def test_saved_files_have_no_colours(self):
        obj = soft()
        name = obj.data.name
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "shot.blend")
            bpy.ops.pliant.preview()
            bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
            self.assertIn(ATTRIBUTE, obj.data.attributes)
            with bpy.data.libraries.load(path) as (_, wanted):
                wanted.meshes = [name]
            self.assertNotIn(ATTRIBUTE, wanted.meshes[0].attributes)

    def test_another_file(self):
        soft()
        bpy.ops.pliant.preview()
        support.fresh()
        self.assertIsNone(session.current())
        self.assertEqual(support.addon("preview.colours").painted(), [])

    def test_objects_deleted_and_renamed(self):
        obj = soft()
        bpy.ops.pliant.preview()
        obj.name = "somebody else"
        session.touch()
        session.finish()
        self.assertEqual(session.current().outcome.bodies[0].name, "somebody else")
        bpy.data.objects.remove(obj)
        session.touch()
        session.finish()
        self.assertEqual(session.current().outcome.bodies, [])
        bpy.ops.pliant.preview()
        self.assertIsNone(session.current())

    def test_undo_keeps_what_is_on_and_what_is_off(self):
        soft().name = "thing"
        bpy.ops.ed.undo_push(message="made")
        bpy.ops.pliant.preview()
        bpy.data.objects["thing"].location.x = 2
        bpy.ops.ed.undo_push(message="moved")
        bpy.ops.ed.undo()
        session.finish()
        self.assertIn(ATTRIBUTE, bpy.data.objects["thing"].data.attributes)
        bpy.ops.pliant.preview()
        bpy.ops.ed.undo_push(message="off")
        bpy.ops.ed.undo()
        self.assertIsNone(session.current())
        self.assertNotIn(ATTRIBUTE, bpy.data.objects["thing"].data.attributes)

    def test_edit_mode(self):
        obj = soft()
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.pliant.preview()
        self.assertIn("Edit Mode", session.current().refused[obj.name])
        bpy.ops.object.mode_set(mode="OBJECT")
        session.touch()
        session.finish()
        self.assertIn(ATTRIBUTE, obj.data.attributes)

    def test_numbers_that_are_none(self):
        obj = soft()
        obj.data.vertices[5].co = (float("nan"), 0, 0)
        bpy.ops.pliant.preview()
        self.assertIn("vertex 5 is not a number", session.current().refused[obj.name])

    def test_without_bodies_the_button_is_grey(self):
        self.assertFalse(bpy.ops.pliant.preview.poll())

    def test_cancelling_a_build(self):
        obj = soft(count=60000)
        request, _ = gather.request(bpy.context.scene)
        builder = build.Builder(request).start()
        builder.cancel()
        builder.wait(10)
        self.assertTrue(builder.done)
        self.assertIsNone(builder.outcome)
        self.assertEqual(builder.error, "")
        self.assertNotIn(ATTRIBUTE, obj.data.attributes)

    def test_no_thread_outlives_the_add_on(self):
        soft(count=60000)
        request, _ = gather.request(bpy.context.scene)
        builders = [build.Builder(request).start() for _ in range(2)]
        build.stop_all()
        self.assertTrue(all(builder.done for builder in builders))


class Palette(unittest.TestCase):
    def test_neighbours_differ(self):
        rng = np.random.default_rng(1)
        centres = rng.random((500, 3))
        found = palette.colour_clusters(centres)
        near = palette.neighbours(centres, 6)
        apart = np.linalg.norm(found[near] - found[:, None], axis=2)
        self.assertGreater(apart.min(), 0.25)
        np.testing.assert_array_equal(found, palette.colour_clusters(centres.copy()))

    def test_clusters_on_each_other_share_a_colour(self):
        centres = np.random.default_rng(5).random((40, 3))
        centres[30] = centres[7] + 1e-5
        first = palette.twins(centres, np.full(40, 0.01))
        self.assertEqual(first[30], 7)
        self.assertEqual(sorted(set(first)), [i for i in range(40) if i != 30])

    def test_any_count(self):
        for count in (1, 2, 3, 11, 7000):
            found = palette.colour_clusters(np.random.default_rng(2).random((count, 3)))
            self.assertEqual(found.shape, (count, 3))
            self.assertTrue(((found >= 0) & (found <= 1)).all())

    def test_nearest_far_from_zero(self):
        centres = np.random.default_rng(3).random((50, 3)) + 1000
        points = np.random.default_rng(4).random((400, 3)) + 1000
        expected = np.linalg.norm(points[:, None] - centres[None], axis=2).argmin(axis=1)
        np.testing.assert_array_equal(palette.nearest(points, centres), expected)


if __name__ == "__main__":
    unittest.main()
