# SPDX-License-Identifier: GPL-3.0-or-later
"""While a call runs on a scene, every other call on it is refused. The list of calls comes from the
header."""

import ctypes
import re
import threading
import unittest

from support import HEADER

from solver import _abi, scene
from solver._abi import Status

POINTS = [(x * 0.1, y * 0.1, z * 0.1) for x in range(4) for y in range(4) for z in range(4)]
ALLOWED = "pliant_scene_cancel"


def declared():
    """name -> list of (type, name) of the arguments, for all that return a status."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.S)
    found = {}
    for name, inside in re.findall(r"PLIANT_API\s+pliant_status\s+(\w+)\(([^)]*)\)", text):
        arguments = [" ".join(one.split()).rpartition(" ") for one in inside.split(",")]
        found[name] = [(kind.removeprefix("const "), argument) for kind, _, argument in arguments]
    return found


def make():
    """A scene with one of everything; handles by type."""
    made = scene.Scene(threads=2)
    body = made.add_body(points=POINTS, cluster={"count": 6})
    handles = {
        "pliant_scene": made,
        "pliant_body": body,
        "pliant_collider": made.add_collider(scene.Shape.PLANE),
        "pliant_field": made.add_field(_abi.FieldKind.FORCE),
        "pliant_skin": body.skin(POINTS),
    }
    return made, {kind: one._handle for kind, one in handles.items()}


def refused_calls(handles):
    """The calls that take a scene or something of it."""
    return {
        name: arguments
        for name, arguments in declared().items()
        if name != ALLOWED
        and any(kind in handles for kind, _ in arguments)
        and name != "pliant_skin_destroy"
        and name != "pliant_skin_apply_stored"
    }


def call(library, name, arguments, handles):
    """With handles where the header has them, otherwise zero and NULL."""
    values = []
    for (kind, _), wanted in zip(arguments, _abi.FUNCTIONS[name][1], strict=True):
        values.append(
            handles.get(kind, 0)
            if wanted in (ctypes.c_uint64,)
            else 0
            if not hasattr(wanted, "contents") and wanted is not ctypes.c_void_p
            else None
        )
    return getattr(library, name)(*values)


class Refused(unittest.TestCase):
    def setUp(self):
        self.scene, self.handles = make()
        self.library = self.scene._library
        self.addCleanup(self.scene.close)

    def check_all(self, running):
        calls = refused_calls(self.handles)
        self.assertGreater(len(calls), 40)
        for name, arguments in calls.items():
            if arguments[0][0] == "pliant_store":  # a store comes first, and there is none
                continue
            status = call(self.library, name, arguments, self.handles)
            sentence = self.library.pliant_last_error().decode()
            self.assertEqual(Status(status), Status.ERROR_STATE, f"{name}: {sentence}")
            self.assertEqual(
                sentence,
                f"{running} is running on this scene: until it returns, only pliant_scene_cancel may be called",
                name,
            )

    def advance(self, progress):
        """One frame; what the callback raised is raised here."""
        raised = []

        def guarded(user, fraction, stage):
            try:
                return int(bool(progress()))
            except BaseException as error:  # ctypes would only print it
                raised.append(error)
                return 1

        desc = _abi.FrameDesc()
        self.library.pliant_frame_desc_init(ctypes.byref(desc), ctypes.sizeof(desc))
        desc.substeps = 2
        desc.progress = _abi.ProgressFn(guarded)
        status = self.library.pliant_scene_advance(self.handles["pliant_scene"], ctypes.byref(desc))
        if raised:
            raise raised[0]
        return Status(status)

    def test_callbacks_of_a_frame_can_only_cancel(self):
        calls = []

        def progress():
            self.check_all("pliant_scene_advance")
            calls.append(1)
            if len(calls) == 2:
                self.assertEqual(self.library.pliant_scene_cancel(self.handles["pliant_scene"]), 0)

        hashed = ctypes.c_uint64()
        # the callback comes before cancel is looked at again: the next frame stops
        self.assertEqual(self.advance(progress), Status.OK)
        self.assertEqual(self.advance(progress), Status.CANCELLED)
        self.assertEqual(self.advance(lambda: None), Status.OK)
        self.assertEqual(self.library.pliant_scene_hash(self.handles["pliant_scene"], ctypes.byref(hashed)), 0)
        info = self.scene.info
        self.assertEqual((info.bodies, info.colliders, info.fields, info.frame), (1, 1, 1, 2))

    def test_callbacks_of_a_body_can_only_cancel(self):
        seen, raised = [], []

        def progress(fraction, stage):
            try:
                if not seen:
                    self.check_all("pliant_body_create")
            except BaseException as error:
                raised.append(error)
            seen.append(stage)

        self.scene.add_body(points=POINTS, cluster={"count": 6}, progress=progress)
        if raised:
            raise raised[0]
        self.assertTrue(seen)
        self.assertEqual(self.scene.info.bodies, 2)

    def test_other_threads_can_only_cancel(self):
        raised = []

        def other():
            try:
                self.check_all("pliant_scene_advance")
            except BaseException as error:
                raised.append(error)

        def progress():
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()

        self.assertEqual(self.advance(progress), Status.OK)
        if raised:
            raise raised[0]

    def test_other_scenes_go_on(self):
        def progress():
            beside, _ = make()
            with beside:
                beside.advance()
                self.assertEqual(beside.info.frame, 1)

        self.assertEqual(self.advance(progress), Status.OK)


if __name__ == "__main__":
    unittest.main()
