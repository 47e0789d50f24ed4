# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python interface against the real library: values arrive unchanged, errors are reported."""

import gc
import math
import tempfile
import threading
import time
import unittest
from pathlib import Path

import support  # noqa: F401 - makes solver importable

import numpy as np
import shapes
import solver
from solver import Cancelled, Channel, Factor, FieldKind, PliantError, Scene, Shape, Status, Store

LIBRARY = solver.library.load()
BOX = shapes.box()
SMALL = {"sample": {"count": 300, "seed": 1}, "cluster": {"count": 12}}


def falling(height=2.0, **settings):
    """A scene with a box above a floor."""
    scene = Scene(threads=2)
    vertices, triangles = shapes.box(centre=(0, 0, height))
    return scene, scene.add_body(vertices, triangles, **{**SMALL, **settings})


class Lifetime(unittest.TestCase):
    def test_objects_that_are_gone_say_so(self):
        scene, body = falling()
        skin = body.skin(BOX[0])
        collider = scene.add_collider()
        field = scene.add_field(FieldKind.WIND)
        handles = {o: o.handle for o in (scene, body, skin, collider, field)}
        self.assertEqual(len(set(handles.values())), 5)
        scene.close()
        for call in (
            lambda: scene.info,
            scene.hash,
            lambda: body.info,
            skin.apply,
            collider.move,
            field.set,
            body.positions,
            lambda: scene.add_collider(),
        ):
            with self.assertRaises(PliantError) as caught:
                call()
            self.assertEqual(caught.exception.status, Status.ERROR_STALE_HANDLE)
            self.assertGreater(len(str(caught.exception)), 10)
        for thing in handles:
            thing.close()
            thing.close()

    def test_with_closes(self):
        with Scene() as scene:
            with scene.add_collider(Shape.SPHERE, extent=(1, 0, 0)):
                self.assertEqual(scene.info.colliders, 1)
            self.assertEqual(scene.info.colliders, 0)
        self.assertEqual(scene.handle, 0)

    def test_forgotten_scenes_are_freed_and_kept_ones_are_not(self):
        scene, body = falling()
        handle = scene.handle
        del scene
        gc.collect()
        self.assertEqual(body.scene.handle, handle)
        self.assertGreater(body.info.particles, 0)  # the body keeps its scene
        del body
        gc.collect()
        info = solver._abi.SceneInfo()
        LIBRARY.pliant_scene_info_init(info, solver.scene.sizeof(info))
        self.assertEqual(LIBRARY.pliant_scene_get_info(handle, info), Status.ERROR_STALE_HANDLE)


class Bodies(unittest.TestCase):
    def test_a_body_is_what_was_asked_for(self):
        with Scene(threads=1, gravity=(0, 0, -1)) as scene:
            body = scene.add_body(*BOX, sample={"count": 800, "seed": 3}, material={"density": 500}, velocity=(1, 2, 3))
            info = body.info
            self.assertAlmostEqual(info.particles, 800, delta=16)
            self.assertAlmostEqual(info.mass, 500, delta=25)
            self.assertEqual(len(info.level), info.levels)
            self.assertGreater(info.level[0].clusters, 1)
            np.testing.assert_allclose(info.momentum, info.mass * np.array([1, 2, 3]), rtol=1e-3)
            self.assertEqual(scene.info.threads, 1)
            self.assertEqual(scene.info.particles, info.particles)
            self.assertEqual(body.warnings, [])
            self.assertEqual(scene.bodies(), [body])

    def test_every_channel_has_its_shape(self):
        scene, body = falling()
        scene.advance()
        info = body.info
        clusters, members = info.level[0].clusters, info.level[0].memberships
        for channel, (dtype, width) in solver.scene.CHANNELS.items():
            with self.subTest(channel=channel.name):
                array = body.read(channel)
                kind = channel.name.partition("_")[0]
                rows = {"CLUSTER": clusters, "MEMBER": members}.get(kind, info.particles)
                rows = clusters + 1 if channel == Channel.MEMBER_BEGIN else rows
                if kind in ("SPLIT", "DIVIDED", "CELL") or channel.name.startswith("PIECE_"):
                    rows = 0  # nothing may break
                self.assertEqual(array.shape, (rows, width) if width > 1 else (rows,))
                self.assertEqual(array.dtype, dtype)
                self.assertFalse(np.isnan(array).any())
                self.assertTrue(np.isfinite(array).all() or channel == Channel.BIRTH)
        self.assertEqual(set(solver.scene.CHANNELS), set(Channel))
        weights = np.bincount(body.read(Channel.MEMBER_PARTICLE), body.read(Channel.MEMBER_WEIGHT))
        np.testing.assert_allclose(weights, 1, atol=1e-5)

    def test_origins_are_kept_apart(self):
        far = np.array([1e6, 0, 0])
        with Scene(gravity=(0, 0, 0)) as scene:
            body = scene.add_body(*BOX, origin=far, **SMALL)
            np.testing.assert_allclose(body.positions(far).mean(0), 0, atol=0.1)
            np.testing.assert_allclose(body.info.centre, far, atol=0.1)
            skin = body.skin(BOX[0], origin=far)
            np.testing.assert_allclose(skin.apply(origin=far).vertices, BOX[0], atol=1e-4)

    def test_out_is_filled(self):
        scene, body = falling()
        out = np.full((body.info.particles, 3), np.nan, np.float32)
        self.assertIs(body.positions(out=out), out)
        np.testing.assert_array_equal(out, body.positions())
        with self.assertRaises(ValueError):
            body.positions(out=out[:-1])

    def test_particles_can_be_set(self):
        scene, body = falling()
        where, how = body.positions() + 1, np.tile([1, 0, 0], (body.info.particles, 1))
        body.set_particles(where, how)
        np.testing.assert_allclose(body.positions(), where, atol=1e-5)
        np.testing.assert_allclose(body.velocities(), how, atol=1e-6)
        with self.assertRaises(PliantError) as caught:
            body.set_particles(where[:-1])
        self.assertEqual(caught.exception.status, Status.ERROR_ARGUMENT)
        with self.assertRaises(ValueError):
            body.set_particles(where, how[:-1])

    def test_points_instead_of_a_mesh(self):
        points = np.random.default_rng(1).random((400, 3))
        with Scene() as scene:
            body = scene.add_body(points=points, volumes=np.full(400, 1 / 400), **SMALL)
            np.testing.assert_allclose(body.read(Channel.REST), points, atol=1e-5)
            self.assertAlmostEqual(body.info.mass, 1000, delta=1)
            with self.assertRaisesRegex(ValueError, "'volumes' has 3 rows, not 400"):
                scene.add_body(points=points, volumes=[1, 2, 3])

    def test_mistakes_are_named(self):
        with Scene() as scene:
            for kind, sentence, settings in (
                (TypeError, "no setting 'colour'", {"colour": 1}),
                (TypeError, "no setting 'material.stiffnes'", {"material": {"stiffnes": 1}}),
                (TypeError, "the mesh is given as", {"mesh": {}}),
                (ValueError, "'density_factor' has 2 rows, not 8", {"density_factor": [1, 1]}),
                (PliantError, "", {"material": {"density": -5}}),
                (PliantError, "", {"material": {"stiffness": math.nan}}),
            ):
                with self.assertRaises(kind) as caught:
                    scene.add_body(*BOX, **settings)
                self.assertIn(sentence, str(caught.exception))
            with self.assertRaises(PliantError) as caught:
                scene.add_body(BOX[0], np.full((1, 3), 99))
            self.assertIn(caught.exception.status, (Status.ERROR_MESH, Status.ERROR_ARGUMENT))
            self.assertEqual(scene.info.bodies, 0)
        with self.assertRaises(TypeError):
            Scene(thread=1)

    def test_painted_values_reach_the_particles(self):
        scene, body = falling()
        heights = body.sample_mesh_values(shapes.box(centre=(0, 0, 2))[0])
        self.assertEqual(heights.shape, (body.info.particles, 3))
        rest = body.read(Channel.REST)
        self.assertLess(np.abs(heights - rest).max(), 0.6)  # nearest surface points
        self.assertEqual(body.sample_mesh_values(np.ones(8)).shape, (body.info.particles,))
        body.set_factors(Factor.STIFFNESS, np.full(body.info.particles, 0.5))
        body.set_factors(Factor.STIFFNESS, None)
        with self.assertRaises(PliantError):
            body.set_factors(Factor.STIFFNESS, [1, 2])


class Motion(unittest.TestCase):
    def test_a_free_body_falls_as_it_should(self):
        scene, body = falling()
        before = body.info.centre[2]
        for _ in range(12):
            scene.advance(dt=1 / 24)
        self.assertAlmostEqual(before - body.info.centre[2], 0.5 * 9.81 * 0.25, delta=0.2)
        self.assertEqual(scene.info.frame, 12)
        self.assertAlmostEqual(scene.info.time, 0.5, places=6)
        self.assertGreater(sum(scene.profile(reset=True).values()), 0)
        self.assertEqual(sum(scene.profile().values()), 0)

    def test_a_floor_holds(self):
        scene, body = falling(1.0)
        scene.add_collider(Shape.PLANE, friction=0.8)
        for _ in range(40):
            scene.advance()
        self.assertGreater(body.positions()[:, 2].min(), -0.05)
        self.assertLess(body.info.centre[2], 0.8)

    def test_a_moved_collider_pushes(self):
        scene, body = falling(0)
        scene.set_gravity((0, 0, 0))
        ball = scene.add_collider(Shape.SPHERE, position=(-2, 0, 0), extent=(0.5, 0, 0))
        for frame in range(24):
            ball.move(position=(-2 + frame / 12, 0, 0))
            scene.advance()
        self.assertGreater(body.info.centre[0], 0.2)
        ball.set(friction=0.1, restitution=0.5)
        with self.assertRaises(TypeError):
            ball.set(frictoin=0.1)

    def test_a_mesh_collider_holds_and_lifts(self):
        scene, body = falling(1.0)
        corners = np.array([(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], np.float32)
        sheet = scene.add_collider(Shape.SHELL, vertices=corners, thickness=0.01, triangles=[(0, 1, 2), (0, 2, 3)])
        for _ in range(40):
            scene.advance()
        self.assertGreater(body.positions()[:, 2].min(), 0)
        low = body.info.centre[2]
        for frame in range(24):
            sheet.set_mesh(corners, origin=(0, 0, (frame + 1) / 12))
            scene.advance()
        self.assertGreater(body.info.centre[2], low + 1.5)

    def test_bad_mesh_colliders_are_refused(self):
        scene = Scene(threads=1)
        corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        for arguments in (
            {"vertices": corners},
            {"triangles": [(0, 1, 2)]},
            {"vertices": corners, "triangles": [(0, 1, 3)]},
            {"vertices": corners, "triangles": [(0, 1, 1)]},
            {"vertices": [(0, 0, float("nan"))] * 3, "triangles": [(0, 1, 2)]},
        ):
            with self.subTest(arguments), self.assertRaises(PliantError) as caught:
                scene.add_collider(Shape.MESH, **arguments)
            self.assertGreater(len(str(caught.exception)), 20)
        with self.assertRaises(PliantError):
            scene.add_collider(Shape.MESH)
        shell = scene.add_collider(Shape.SHELL, vertices=corners, triangles=[(0, 1, 2)])
        with self.assertRaises(PliantError):
            shell.set_mesh(corners[:2])
        with self.assertRaises(PliantError):
            shell.move(position=(0, 0, 1))
        self.assertEqual(scene.info.colliders, 1)

    def test_bodies_touch_and_sleep(self):
        stiff = {"stiffness": 16.0, "damping": 8.0}
        scene, body = falling(0.6, material=stiff)
        scene.add_collider(Shape.PLANE)
        above = scene.add_body(points=body.positions() + (0, 0, 1.3), material=stiff)
        scene.set_contacts(friction=0.6)
        for _ in range(10):
            scene.advance()
        scene.set_sleep(1e3, 0.1)
        for _ in range(14):
            scene.advance()
        self.assertGreater(above.info.centre[2], body.info.centre[2] + 0.5)
        self.assertEqual(scene.info.asleep, 2)
        where = above.positions()
        scene.advance()
        self.assertTrue((above.positions() == where).all())
        above.set_contacts(groups=2, self_contact=False)
        body.set_contacts(groups=1)
        scene.set_sleep(0)
        apart = []
        for _ in range(20):
            scene.advance()
            apart.append(above.info.centre[2] - body.info.centre[2])
        self.assertLess(min(apart), 0.2)
        with self.assertRaisesRegex(PliantError, "friction"):
            scene.set_contacts(friction=-1.0)
        with self.assertRaises(TypeError):
            scene.set_contacts(frictoin=0.1)

    def test_a_belt_drags_and_slippery_bodies_slide(self):
        scene, body = falling(0.5, material={"stiffness": 16.0, "damping": 8.0})
        scene.add_collider(friction=0.5, surface_velocity=(1, 0, 0))
        slippery = scene.add_body(points=body.positions() + (4, 0, 0))
        slippery.set_surface(friction=0)
        for _ in range(72):
            scene.advance(substeps=8)
        self.assertAlmostEqual(float(body.velocities()[:, 0].mean()), 1, delta=0.05)
        self.assertAlmostEqual(float(slippery.velocities()[:, 0].mean()), 0, delta=0.01)
        with self.assertRaisesRegex(PliantError, "restitution"):
            slippery.set_surface(restitution=2)

    def test_welds_hold_until_they_break(self):
        scene, body = falling(0, material={"stiffness": 16.0})
        box = scene.add_collider(Shape.BOX, position=(0, 0, 1), extent=(0.5, 0.5, 0.5))
        self.assertGreater(scene.weld(body, box, strength=1e6), 10)
        for _ in range(12):
            scene.advance()
        self.assertGreater(body.info.centre[2], -0.3)
        other = scene.add_body(points=body.positions() - (0, 0, 1.05))
        before = scene.info.welds
        self.assertGreater(scene.weld(body, other, distance=0.2, strength=10.0), 0)
        for _ in range(12):
            scene.advance()
        self.assertEqual(scene.info.welds, before)
        self.assertLess(other.info.centre[2], -1.3)
        with self.assertRaisesRegex(PliantError, "itself"):
            scene.weld(body, body)

    def test_fields_pull(self):
        scene, body = falling(0)
        scene.set_gravity((0, 0, 0))
        field = scene.add_field(
            FieldKind.FORCE, strength=-20.0, matrix=[1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
        )
        for _ in range(5):
            scene.advance()
        self.assertGreater(body.info.centre[0], 0.01)
        field.set(strength=0)
        given = solver.evaluate_field(FieldKind.FORCE, [[1, 0, 0]], strength=2.0)
        self.assertGreater(given[0, 0], 0)
        np.testing.assert_allclose(given[0, 1:], 0, atol=1e-6)

    def test_pins_hold_and_follow(self):
        scene, body = falling()
        rest = body.positions()
        top = rest[:, 2] > np.quantile(rest[:, 2], 0.8)
        body.set_pins(np.where(top, solver.PIN_HELD, 0))
        for _ in range(10):
            scene.advance()
        np.testing.assert_allclose(body.positions()[top], rest[top], atol=1e-4)
        self.assertLess(body.positions()[~top, 2].mean(), rest[~top, 2].mean())
        body.set_pin_targets(rest + [0, 0, 0.1])
        scene.advance()
        np.testing.assert_allclose(body.positions()[top], rest[top] + [0, 0, 0.1], atol=1e-4)
        body.set_pin_mesh(shapes.box(centre=(0, 0.1, 2))[0])
        body.set_follow(True)
        scene.advance()
        self.assertAlmostEqual(body.positions()[:, 1].mean(), rest[:, 1].mean() + 0.1, delta=0.02)
        body.set_follow(False)
        body.set_pins(None)

    def test_accelerations_and_materials_act(self):
        scene, body = falling()
        body.set_accelerations(np.tile([0, 0, 9.81], (body.info.particles, 1)))
        before = body.info.centre[2]
        for _ in range(10):
            scene.advance()
        self.assertAlmostEqual(body.info.centre[2], before, delta=0.01)
        body.set_accelerations(None)
        body.set_material(stiffness=5, damping=2)
        body.set_material(drag=1)
        self.assertEqual(body._desc.stiffness, 5)  # kept from the call before
        scene.advance()
        with self.assertRaises(PliantError):
            body.set_material(stiffness=-1)
        self.assertEqual(body._desc.stiffness, 5)

    def test_substeps(self):
        scene, body = falling(material={"stiffness": 20})
        wanted = scene.auto_substeps(1 / 24, 64)
        self.assertGreater(wanted, 1)
        scene.advance(dt=1 / 24, max_substeps=64)
        self.assertEqual(scene.info.substeps, wanted)
        scene.advance(substeps=3)
        self.assertEqual(scene.info.substeps, 3)
        with self.assertRaises(TypeError):
            scene.advance(subteps=3)


class Control(unittest.TestCase):
    def test_progress_is_told(self):
        seen = []
        scene, body = falling(progress=lambda *given: seen.append(given))
        self.assertTrue(seen)
        scene.advance(substeps=8, progress=lambda *given: seen.append(given))
        self.assertTrue(all(0 <= fraction <= 1 and stage for fraction, stage in seen))

    def test_exceptions_in_progress_come_out_and_the_frame_can_be_finished(self):
        scene, _ = falling()
        other, _ = falling()
        for cause in (ZeroDivisionError, KeyboardInterrupt):

            def raising(fraction, stage, cause=cause):
                raise cause("out of here")

            with self.assertRaisesRegex(cause, "out of here"):
                scene.advance(substeps=8, progress=raising)
            scene.advance(substeps=8)
            other.advance(substeps=8)
            self.assertEqual(scene.hash(), other.hash())
        with self.assertRaises(ZeroDivisionError):
            falling(progress=lambda *_: 1 / 0)

    def test_cancel_from_a_callback(self):
        scene, _ = falling()
        with self.assertRaises(Cancelled) as caught:
            scene.advance(substeps=8, progress=lambda *_: True)
        self.assertEqual(caught.exception.status, Status.CANCELLED)
        self.assertEqual(scene.info.frame, 0)
        scene.advance(substeps=8)
        self.assertEqual(scene.info.frame, 1)

    def test_cancel_from_another_thread(self):
        """Needs calls that let go of the interpreter's lock, too."""
        scene, _ = falling()
        started = threading.Event()
        outcome = []

        def work():
            try:
                started.set()
                scene.advance(substeps=100000)
                outcome.append("finished")
            except Cancelled:
                outcome.append("cancelled")

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        time.sleep(0.05)
        began = time.perf_counter()
        scene.cancel()
        thread.join(30)
        self.assertEqual(outcome, ["cancelled"])
        self.assertLess(time.perf_counter() - began, 5)

    def test_the_same_bits_with_any_threads(self):
        hashes = set()
        for threads in (1, 2, 3):
            with Scene(threads=threads) as scene:
                scene.add_body(*BOX, **SMALL)
                for _ in range(3):
                    scene.advance()
                hashes.add(scene.hash())
        self.assertEqual(len(hashes), 1)

    def test_save_and_restore(self):
        scene, body = falling()
        scene.add_collider(Shape.SPHERE, extent=(0.5, 0, 0))
        scene.add_field(FieldKind.WIND)
        scene.advance()
        block = scene.save()
        self.assertIsInstance(block, bytes)
        scene.advance()
        wanted = scene.hash()
        with Scene() as other:
            other.restore(block)
            (again,), (ball,), (wind,) = other.bodies(), other.colliders(), other.fields()
            self.assertEqual(again.info.particles, body.info.particles)
            other.advance()
            self.assertEqual(other.hash(), wanted)
            damaged = bytearray(block)
            damaged[len(block) // 2] ^= 1
            with self.assertRaises(PliantError) as caught:
                other.restore(damaged)
            self.assertEqual(caught.exception.status, Status.ERROR_FORMAT)
            self.assertEqual(other.hash(), wanted)
            with self.assertRaisesRegex(TypeError, "is first moved with position, rotation"):
                ball.move(position=(0, 0, 1))
            ball.move((0, 0, 1), (1, 0, 0, 0), (0.5, 0, 0))
            ball.move(position=(0, 0, 2))
            wind.set(kind=FieldKind.WIND, strength=2)
            other.advance()


class SkinsAndStores(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "frames of a bücher"

    def test_a_skin_follows(self):
        vertices, _ = ball = shapes.icosphere(0.8, 2)
        normals = vertices / np.linalg.norm(vertices, axis=1, keepdims=True)
        with Scene() as scene:
            body = scene.add_body(*ball, **SMALL)
            skin = body.skin(vertices, normals=normals)
            np.testing.assert_allclose(skin.apply().vertices, vertices, atol=1e-4)
            for _ in range(6):
                scene.advance()
            now = skin.apply(normals=True, velocities=True)
            fall = body.info.centre[2]
            self.assertLess(fall, -0.1)
            np.testing.assert_allclose(now.vertices, vertices + [0, 0, fall], atol=0.05)
            np.testing.assert_allclose(now.normals, normals, atol=0.05)
            np.testing.assert_allclose(now.velocities[:, 2], -9.81 / 4, atol=0.3)
            out = np.empty_like(vertices)
            self.assertIs(skin.apply(out=out).vertices, out)
            self.check_transform(skin, now)
            with self.assertRaises(TypeError):
                skin.apply(3)
            with self.assertRaises(PliantError):
                body.skin(vertices).apply(normals=True)
            with self.assertRaisesRegex(ValueError, "'normals' has 1 rows"):
                body.skin(vertices, normals=[[0, 0, 1]])

    def check_transform(self, skin, plain):
        """To the bit, with sums in double in the order that pliant.h gives."""
        transform = np.array([(0.3, -1.1, 0.2, 7), (1 / 3, 0.7, 0, -1e3), (0, 2e-3, -2.5, 1e-4)])
        x, y, z = plain.vertices.T.astype(np.float64)
        wanted = np.stack([a * x + b * y + c * z + d for a, b, c, d in transform], -1)
        moved = skin.apply(transform=transform, normals=True, velocities=True)
        np.testing.assert_array_equal(moved.vertices, wanted.astype(np.float32))
        np.testing.assert_array_equal(moved.normals, plain.normals)
        np.testing.assert_array_equal(moved.velocities, plain.velocities)
        np.testing.assert_array_equal(skin.apply(transform=transform.tolist()).vertices, moved.vertices)
        with self.assertRaisesRegex(ValueError, "'transform' takes 12 numbers, not 9"):
            skin.apply(transform=np.eye(3))
        with self.assertRaisesRegex(PliantError, "transform's number 5 is inf"):
            skin.apply(transform=np.where(np.arange(12) == 5, np.inf, 0.0))

    def test_frames_are_stored_and_resumed(self):
        scene, body = falling()
        skin = body.skin(BOX[0] + np.float32([0, 0, 2]))
        kept = []
        with Store(self.folder, "create", checkpoint_every=2) as store:
            for frame in range(1, 6):
                scene.advance()
                store.write_frame(scene, frame)
                kept.append((body.positions(), skin.apply().vertices, scene.hash()))
        with Store(self.folder) as store:
            info = store.info
            self.assertEqual((info.first_frame, info.last_frame, info.bodies), (1, 5, 1))
            store.verify()
            stored = store.skin(0, BOX[0] + np.float32([0, 0, 2]))
            for frame in (1, 5, 3):
                positions, vertices, _ = kept[frame - 1]
                np.testing.assert_allclose(store.read(0, frame, Channel.POSITION), positions, atol=1e-6)
                np.testing.assert_allclose(stored.apply(frame).vertices, vertices, atol=1e-5)
            with self.assertRaises(TypeError):
                stored.apply()
            with self.assertRaises(PliantError):
                store.read(0, 99, Channel.POSITION)
        with Store(self.folder, "resume") as store, Scene() as again:
            frame = store.restore(again)
            while frame < 5:
                again.advance()
                frame += 1
                store.write_frame(again, frame)
            self.assertEqual(again.hash(), kept[-1][2])
            store.truncate(3)
            self.assertEqual(store.info.last_frame, 3)

    def test_stores_that_are_not_there(self):
        with self.assertRaises(PliantError) as caught:
            Store(self.folder)
        self.assertEqual(caught.exception.status, Status.ERROR_FILE)
        self.assertIn(str(self.folder), str(caught.exception))
        with self.assertRaisesRegex(ValueError, "mode 'write' is none of 'read', 'create'"):
            Store(self.folder, "write")


if __name__ == "__main__":
    unittest.main()
