# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame store returns the state of the running scene, bit for bit."""

import tempfile
import unittest

import support  # noqa: F401 - makes solver importable

import numpy as np
from solver import Channel, Scene, Store


def ball(count):
    """Points spread evenly in a ball."""
    number = np.arange(count) + 0.5
    across, around = np.arccos(1 - 2 * number / count), np.pi * (1 + 5**0.5) * number
    out = np.stack([np.cos(around) * np.sin(across), np.sin(around) * np.sin(across), np.cos(across)], 1)
    return (out * np.cbrt((number * 7.3) % count / count)[:, None]).astype(np.float32)


class StoredSkins(unittest.TestCase):
    def test_a_stored_body_skins_as_the_living_one_did(self):
        for origin in ((0, 0, 0), (1000, -64, 8)):
            with self.subTest(origin=origin), tempfile.TemporaryDirectory() as folder, Scene(threads=1) as scene:
                points = ball(700)
                body = scene.add_body(
                    points=points,
                    volumes=np.full(len(points), 0.005, np.float32),
                    points_origin=origin,
                    angular_velocity=(1, 2, 3),
                )
                vertices = 1.1 * ball(300)
                living = body.skin(vertices, origin=origin)
                with Store(folder + "/frames", "create") as store:
                    for frame in range(1, 6):
                        if frame > 1:
                            scene.advance(dt=1 / 24)
                        store.write_frame(scene, frame)
                        wanted = living.apply(origin=origin, velocities=True)
                        with store.skin(0, vertices, origin=origin) as stored:
                            found = stored.apply(frame, origin=origin, velocities=True)
                        np.testing.assert_array_equal(found.vertices, wanted.vertices)
                        np.testing.assert_array_equal(found.velocities, wanted.velocities)
                        for channel in (Channel.DEFORMATION, Channel.STRETCH):
                            np.testing.assert_array_equal(store.read(0, frame, channel), body.read(channel))


if __name__ == "__main__":
    unittest.main()
