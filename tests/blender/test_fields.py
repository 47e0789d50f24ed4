# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured force fields act as they do on Blender's own particles."""

import unittest

import bpy
import support
import make_fields_reference as blender
import numpy as np

fields, solver = support.addon("blender.capture.fields"), support.addon("solver")


class Fields(unittest.TestCase):
    def test_every_kind_shape_and_falloff_acts_as_on_blenders_particles(self):
        cases = blender.all_cases()
        samples = blender.measure(cases)
        by_case = {}
        for index, place, velocity, acceleration in samples:
            by_case.setdefault(index, []).append((place, velocity, acceleration))
        moved = 0
        for index, case in enumerate(cases):
            obj = bpy.data.objects[f"field {index}"]
            self.assertIsNone(fields.refusal(obj))
            settings = fields.parameters(obj, np.array(obj.matrix_world, np.float64))
            x, v, expected = (np.array([s[k] for s in by_case[index]], np.float32) for k in range(3))
            found = solver.evaluate_field(fields.KINDS[obj.field.type], x, v, **settings)
            # Blender's velocities are float, and the acceleration is their difference over .04 s
            rounding = 3e-6 * (1 + np.abs(v).max()) / blender.TIMESTEP
            tolerance = 2e-4 * np.abs(expected).max() + rounding
            np.testing.assert_allclose(
                found,
                expected,
                rtol=0,
                atol=tolerance,
                err_msg=f"{case['type']} {case['shape']} {case['falloff_type']}, case {index}",
            )
            moved += np.abs(expected).max() > 10 * tolerance
        self.assertGreater(moved, len(cases) // 2, "most fields must do something")
