# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting of the library can be reached; material settings can be animated."""

import unittest

import support
from cubes import Cubes, add

settings, meshes = support.addon("blender.settings"), support.addon("blender.meshes")
solver, setting = support.addon("solver"), support.addon("command.setting")
fingerprint = support.addon("bake.fingerprint")
FIXED = {"density", "goal", "damping_per_step", "use_strain_attribute"}
OWN = {"rna_type", "name", "preset"}


class Reached(Cubes):
    def test_settings_of_clustering_and_reclustering(self):
        own = add("A").pliant
        for text in (
            "material.recluster_fade_in=.1",
            "material.recluster_fade_out=.2",
            "material.recluster_least=3",
            "clusters.max_iterations=7",
            "clusters.fixed=on",
            "clusters.weight_a=0",
            "clusters.weight_b=0",
        ):
            setting._set(self.scene, text)
        material = settings.material(own.material)
        self.assertAlmostEqual(material["recluster_fade_in"], 0.1, places=6)
        self.assertAlmostEqual(material["recluster_fade_out"], 0.2, places=6)
        self.assertEqual(material["recluster_least"], 3)
        cluster = settings.cluster(own.clusters)
        self.assertEqual((cluster["max_iterations"], cluster["fixed"]), (7, 1))
        levels = settings.levels(own.clusters)
        self.assertEqual((levels["a"], levels["b"]), (0.0, 0.0))

    def test_defaults_leave_fingerprints_as_they_were(self):
        own = add("A").pliant
        self.assertNotIn("recluster_fade_in", settings.material(own.material))
        self.assertNotIn("max_iterations", settings.cluster(own.clusters))
        made = settings.levels(own.clusters)
        self.assertEqual(made["a"], -1)
        before = fingerprint.hash_of(dict(made, a=-1.0, b=-1.0))
        self.assertNotEqual(before, fingerprint.hash_of(dict(made, a=0.0, b=-1.0)))
        # as a dict of two numbers was hashed when 0 stood for the default
        self.assertEqual(fingerprint.hash_of({"a": -1.0}), "fa96e8f8f1fb31ca3053424e888f94ee")


class Keyframed(Cubes):
    def test_material_may_change_from_frame_to_frame(self):
        obj = add("A")
        material = obj.pliant.material
        names = [p.identifier for p in material.bl_rna.properties if p.identifier not in OWN and not p.is_readonly]
        self.assertEqual({n for n in names if not material.bl_rna.properties[n].is_animatable}, FIXED)
        material.use_plasticity = material.use_strain_limit = True
        vertices, faces = meshes.positions(obj.data), meshes.triangles(obj.data)
        for name in names:
            if name in FIXED:
                continue
            with self.subTest(name), solver.Scene(threads=1) as scene:
                former = getattr(material, name)
                body = scene.add_body(
                    vertices, faces, **settings.body(obj.pliant), material=settings.material(material)
                )
                scene.advance(dt=1 / 24)
                prop = material.bl_rna.properties[name]
                other = {
                    "BOOLEAN": lambda: not former,
                    "INT": lambda: former + 1,
                    "FLOAT": lambda: former * 0.9 + 0.01,
                    "ENUM": lambda: next(i.identifier for i in prop.enum_items if i.identifier != former),
                }[prop.type]()
                setattr(material, name, other)
                made = settings.material(material)
                body.set_material(**{key: value for key, value in made.items() if key not in ("density", "goal")})
                scene.advance(dt=1 / 24)
                setattr(material, name, former)


if __name__ == "__main__":
    unittest.main()
