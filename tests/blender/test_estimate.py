# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview's estimates of time and memory, compared with the bake."""

import tempfile
import time
import unittest

import bpy
import support

session, process, runs = (support.addon(name) for name in ("preview.session", "bake.process", "blender.runs"))
MOST = 1.5  # times
TRIES = 4  # other programs take the processor now and then


def dense(obj, cuts):
    obj.modifiers.new("Dense", "SUBSURF").levels = cuts
    obj.modifiers["Dense"].subdivision_type = "SIMPLE"
    bpy.ops.object.modifier_apply(modifier="Dense")
    return obj


class Estimate(unittest.TestCase):
    def setUp(self):
        self.scene = support.fresh()
        self.scene.frame_start = 1
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.addCleanup(session.stop)
        self.scene.pliant.folder = place.name + "/cache"
        bpy.ops.mesh.primitive_plane_add(size=60)
        bpy.context.object.pliant.role = "COLLIDER"

    def body(self, kind, cuts, count, **place):
        getattr(bpy.ops.mesh, f"primitive_{kind}_add")(**place)
        obj = dense(bpy.context.object, cuts)
        obj.pliant.role = "BODY"
        obj.pliant.particles.count = count
        return obj

    def check(self, frames):
        self.scene.frame_end = frames
        found = []
        for _ in range(TRIES):
            bpy.ops.pliant.preview()
            outcome = session.current().outcome
            session.stop()
            began = time.perf_counter()
            self.assertEqual(bpy.ops.pliant.bake(), {"FINISHED"})
            took = time.perf_counter() - began
            bpy.ops.pliant.clear()
            found.append((outcome.seconds, took))
            if 1 / MOST < outcome.seconds / took < MOST:
                return outcome
        self.fail(f"seconds, said and taken: {found}")

    def test_a_body_that_lands(self):
        outcome = self.check(100) if self.body("monkey", 2, 2000, location=(0, 0, 1.2)) else None
        self.assertGreater(outcome.reading, 0)
        self.assertEqual(outcome.cutting, 0)

    def test_bodies_in_a_pile_and_a_collider_that_deforms(self):
        for i in range(3):
            self.body("uv_sphere", 1, 500, location=(0, 0.2 * i, 1.1 + 2.05 * i))
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=100, y_subdivisions=100, size=12)
        wave = bpy.context.object
        wave.pliant.role = "COLLIDER"
        bpy.ops.pliant.preview()
        still = session.current().outcome.reading
        session.stop()
        wave.modifiers.new("Wave", "WAVE").height = 0.1
        self.assertGreater(self.check(60).reading, 2 * still)  # it is read in every frame

    def test_a_held_body_that_is_animated(self):
        obj = self.body("cylinder", 3, 1500, depth=4, location=(0, 0, 4))
        group = obj.vertex_groups.new(name="Held")
        group.add([i for i, v in enumerate(obj.data.vertices) if v.co.z > 1.5], 1, "ADD")
        obj.pliant.start.use_pins, obj.pliant.start.pin_group = True, "Held"
        for frame, x in ((1, 0), (40, 2), (80, 0)):
            obj.location.x = x
            obj.keyframe_insert("location", frame=frame)
        self.check(80)

    def test_what_breaks_has_time_for_cutting(self):
        obj = self.body("cube", 4, 400, location=(0, 0, 3))
        bpy.ops.pliant.preview()
        self.assertEqual(session.current().outcome.cutting, 0)
        session.stop()
        obj.pliant.fracture.use_fracture = True
        bpy.ops.pliant.preview()
        self.assertGreater(session.current().outcome.cutting, 0)

    def test_memory_is_that_of_the_process(self):
        self.body("monkey", 1, 300, location=(0, 0, 3))
        bpy.ops.pliant.preview()
        said, held = session.current().outcome.memory, process.memory()
        self.assertGreater(held, 50e6)  # Blender itself
        self.assertLess(abs(said - held), 0.2 * held)

    def test_other_settings_are_estimated_without_reading_frames(self):
        obj = self.body("monkey", 1, 300, location=(0, 0, 3))
        bpy.ops.pliant.preview()
        first = session.current().outcome
        seen = []
        bpy.app.handlers.frame_change_pre.append(lambda *_: seen.append("frame"))
        try:
            obj.pliant.particles.count = 6000
            session.finish()
        finally:
            bpy.app.handlers.frame_change_pre.pop()
        outcome = session.current().outcome
        self.assertEqual(seen, [])
        self.assertEqual(outcome.dearer, first.dearer)
        self.assertEqual(outcome.reading, first.reading)
        self.assertGreater(outcome.particles, first.particles)
        self.assertGreater(outcome.frame_seconds, 0)


if __name__ == "__main__":
    unittest.main()
