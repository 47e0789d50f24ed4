# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on leaves nothing behind when it is disabled, repeatedly."""

import unittest

import bpy
import support

HANDLERS = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]
PANELS = ("PHYSICS_PT_add", "STATUSBAR_HT_header")


def traces():
    """Everything in Blender that an add-on can leave something in."""
    found = {name: len(getattr(bpy.app.handlers, name)) for name in HANDLERS}
    for name in PANELS:
        panel = getattr(bpy.types, name)
        found[name] = len(getattr(panel.draw, "_draw_funcs", ()))
    found["classes"] = [name for name in dir(bpy.types) if name.startswith("PLIANT_")]
    found["properties"] = [hasattr(bpy.types.Object, "pliant"), hasattr(bpy.types.Scene, "pliant")]
    return found


class Leaks(unittest.TestCase):
    def setUp(self):
        support.fresh()

    def tearDown(self):
        support.enable()

    def test_twice_on_and_off(self):
        on = traces()
        self.assertTrue(on["classes"])
        support.disable()
        off = traces()
        self.assertEqual(off["classes"], [])
        self.assertEqual(off["properties"], [False, False])
        for _ in range(2):
            support.enable()
            self.assertEqual(traces(), on)
            support.disable()
            self.assertEqual(traces(), off)

    def test_a_preview_that_is_on_goes_too(self):
        bpy.ops.mesh.primitive_monkey_add()
        obj = bpy.context.object
        obj.pliant.role = "BODY"
        obj.pliant.particles.count = 300
        before = [(a.name, a.data_type, a.domain) for a in obj.data.attributes]
        bpy.ops.pliant.preview()
        self.assertIn("Pliant Clusters", obj.data.attributes)
        session = support.addon("preview.session")
        overlay = support.addon("preview.overlay")
        support.disable()
        self.assertEqual([(a.name, a.data_type, a.domain) for a in obj.data.attributes], before)
        self.assertIsNone(session.current())
        self.assertFalse(overlay.is_drawing())
        self.assertFalse(bpy.app.timers.is_registered(session._tick))

    def test_settings_survive(self):
        bpy.ops.mesh.primitive_cube_add()
        obj = bpy.context.object
        obj.pliant.role = "BODY"
        obj.pliant.material.frequency = 4.5
        support.disable()
        support.enable()
        self.assertEqual((obj.pliant.role, obj.pliant.material.frequency), ("BODY", 4.5))


if __name__ == "__main__":
    unittest.main()
