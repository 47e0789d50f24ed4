# SPDX-License-Identifier: GPL-3.0-or-later
"""Every panel draws in every state, on a stand-in for Blender's layout that refuses what Blender
would: properties, operators and icons that do not exist."""

import unittest
from types import SimpleNamespace

import bmesh
import bpy
import support

properties = support.addon("ui.properties.settings")
panels = support.addon("ui.panels.body")
panels_bake = support.addon("ui.panels.bake")
panels_fracture = support.addon("ui.panels.fracture")
sidebar = support.addon("ui.panels.sidebar")
hints = support.addon("ui.panels.hints")
runs = support.addon("blender.runs")
welds = support.addon("ui.panels.welds")
weights = support.addon("ui.panels.level_weights")
drawing = support.addon("ui.drawing")
fitting = support.addon("blender.fitting")
timeline = support.addon("ui.timeline")
roles = support.addon("ui.operators.roles")
session = support.addon("preview.session")
solver = support.addon("solver")
settings = support.addon("blender.settings")
meshes = support.addon("blender.meshes")

ICONS = set(bpy.types.UILayout.bl_rna.functions["prop"].parameters["icon"].enum_items.keys())
# what an artist sets; the others keep what was made of a bake
SETTINGS = [cls for cls in properties.classes if cls.__name__ not in ("SwitchedModifier", "ResultSettings")]


class Layout:
    """Notes what is drawn."""

    def __init__(self, notes=None):
        self.notes = notes if notes is not None else []

    def _part(self, *_, **settings):
        return Layout(self.notes)

    row = column = box = split = grid_flow = column_flow = _part

    def _icon(self, icon):
        if icon not in ICONS:
            raise ValueError(f"no icon {icon}")

    def prop(self, data, name, text=None, icon="NONE", **_):
        self._icon(icon)
        prop = data.bl_rna.properties[name]
        self.notes.append(("prop", name, prop.name if text is None else text))

    def prop_search(self, data, name, source, collection, **_):
        getattr(source, collection)
        self.notes.append(("prop", name, data.bl_rna.properties[name].name))

    def operator(self, idname, text="", icon="NONE", **_):
        self._icon(icon)
        group, name = idname.split(".")
        kind = getattr(bpy.types, f"{group.upper()}_OT_{name}")
        self.notes.append(("operator", idname, text or kind.bl_label))
        return SimpleNamespace()

    def operator_menu_enum(self, idname, name, text="", icon="NONE"):
        group, operator = idname.split(".")
        getattr(getattr(bpy.ops, group), operator).get_rna_type().properties[name]
        self._icon(icon)
        self.notes.append(("operator", idname, text))

    def menu(self, name, text="", icon="NONE"):
        getattr(bpy.types, name)
        self._icon(icon)
        self.notes.append(("menu", name, text))

    def popover(self, panel, text="", icon="NONE"):
        getattr(bpy.types, panel)
        self._icon(icon)
        self.notes.append(("popover", panel, text))

    def label(self, text="", icon="NONE"):
        self._icon(icon)
        self.notes.append(("label", "", text))

    def progress(self, factor=0.0, text=""):
        self.notes.append(("progress", factor, text))

    def separator(self, **_):
        pass


def drawn(cls):
    """What a panel notes, or None where it does not show itself."""
    context = bpy.context
    if hasattr(cls, "poll") and not cls.poll(context):
        return None
    layout = Layout()
    panel = SimpleNamespace(layout=layout)
    for name in dir(cls):
        value = getattr(cls, name)
        if callable(value) and name.startswith(("draw", "split", "plain")):
            static = isinstance(vars_of(cls, name), staticmethod)
            setattr(panel, name, value if static else value.__get__(panel))
    if hasattr(cls, "draw_header"):
        panel.draw_header(context)
    panel.draw(context)
    return layout.notes


def vars_of(cls, name):
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


def all_panels():
    return [*panels.classes, *panels_fracture.classes, *panels_bake.classes, welds.PLIANT_PT_welds, *sidebar.classes]


def texts(notes):
    return " | ".join(str(note[2]) for note in notes or ())


class Drawing(unittest.TestCase):
    def setUp(self):
        support.fresh()
        bpy.ops.mesh.primitive_monkey_add()
        self.obj = bpy.context.object

    def tearDown(self):
        session.stop()

    def test_nothing_for_an_object_that_is_nothing(self):
        for cls in (*panels.classes, *panels_bake.classes):
            self.assertIsNone(drawn(cls), cls.__name__)
        for cls in sidebar.classes:
            self.assertIsNotNone(drawn(cls), cls.__name__)

    def test_order_of_work(self):
        names = [
            cls.bl_label
            for cls in all_panels()
            if getattr(cls, "bl_parent_id", "") == "PLIANT_PT_main" and "BODY" in cls.roles
        ]
        self.assertEqual(
            names[:10],
            [
                "Material",
                "Clusters",
                "Particles",
                "Preview",
                "Start and Pins",
                "Painted Material",
                "Fracture",
                "Forces",
                "Collision",
                "Bake and Cache",
            ],
        )
        self.assertEqual(names[-2:], ["Advanced", "Welds"])

    def test_a_collider_has_fewer(self):
        self.obj.pliant.role = "COLLIDER"
        shown = [cls.__name__ for cls in all_panels() if drawn(cls)]
        self.assertIn("PLIANT_PT_collider", shown)
        self.assertIn("PLIANT_PT_bake", shown)
        self.assertNotIn("PLIANT_PT_material", shown)

    def choices(self):
        """Every choice of every enum of a body's settings, once."""
        for group in ("material", "clusters", "particles", "start", "fracture"):
            data = getattr(self.obj.pliant, group)
            for name, prop in data.bl_rna.properties.items():
                if prop.type == "ENUM" and name != "rna_type":
                    for item in prop.enum_items.keys():
                        yield data, name, item
                    data.property_unset(name)
                    if name == "breaks":  # what the cells are made from is drawn with cells only
                        data.breaks = "CELLS"
                elif prop.type == "BOOLEAN":
                    yield data, name, True
                    yield data, name, False
        scene = bpy.context.scene.pliant
        for name in ("use_scene_frames", "use_gravity", "use_fields"):
            yield scene, name, False
        yield scene, "substeps_mode", "FIXED"

    def test_every_choice_draws(self):
        self.obj.pliant.role = "BODY"
        self.obj.pliant.clusters.levels = 3
        for data, name, item in self.choices():
            setattr(data, name, item)
            for cls in all_panels():
                with self.subTest(f"{name} {item} {cls.__name__}"):
                    drawn(cls)

    def test_every_setting_is_in_some_panel(self):
        self.obj.pliant.role = "BODY"
        self.obj.pliant.clusters.levels = 2
        seen = set()
        for data, name, item in self.choices():
            setattr(data, name, item)
            for cls in all_panels():
                seen |= {note[1] for note in drawn(cls) or () if note[0] == "prop"}
        for name in support.addon("blender.settings").PAINTED:
            setattr(self.obj.pliant.paint, f"{name}_group", "painted")
        seen |= {note[1] for note in drawn(panels.PLIANT_PT_paint) if note[0] == "prop"}
        self.obj.pliant.role = "COLLIDER"
        seen |= {note[1] for note in drawn(panels_bake.PLIANT_PT_collider) if note[0] == "prop"}
        self.assertNotIn("strength", seen)
        self.obj.pliant.welds.add()
        notes = drawn(welds.PLIANT_PT_welds)
        self.assertIn("is to be welded to nothing", texts(notes))
        seen |= {note[1] for note in notes if note[0] == "prop"} | {"welds"}
        missing = []
        for cls in SETTINGS:
            for name in cls.bl_rna.properties.keys():
                if (
                    name not in ("rna_type", "name", "preset", "fitted_size", "override_settings")
                    and cls.bl_rna.properties[name].type != "POINTER"
                    and name not in seen
                ):
                    missing.append(f"{cls.__name__}.{name}")
        self.assertEqual(missing, [])

    def test_preview_numbers_are_said(self):
        self.obj.pliant.role = "BODY"
        self.obj.pliant.particles.count = 500
        self.obj.pliant.clusters.levels = 2
        self.assertIn("About 500 particles inside", texts(drawn(panels.PLIANT_PT_particles)))
        bpy.ops.pliant.preview()
        for cls in all_panels():
            drawn(cls)
        count = f"{session.current().outcome.particles:,}"
        for cls in (panels.PLIANT_PT_preview, sidebar.PLIANT_PT_sidebar_preview):
            said = texts(drawn(cls))
            for word in (count, "Clusters", "Memberships", "Memory", "Disk", "Time"):
                self.assertIn(word, said)
        self.assertIn(f"{count} particles inside", texts(drawn(panels.PLIANT_PT_particles)))

    def test_fields_that_cannot_act_are_named(self):
        self.obj.pliant.role = "BODY"
        bpy.ops.object.effector_add(type="WIND")
        bpy.ops.object.effector_add(type="TEXTURE")
        bpy.context.object.name = "Patterns"
        bpy.context.view_layer.objects.active = self.obj
        said = texts(drawn(panels_bake.PLIANT_PT_forces))
        self.assertIn("Wind", said)
        self.assertIn("Patterns", said)
        self.assertIn("no effect", said)

    def test_pins_without_a_group_are_told(self):
        self.obj.pliant.role = "BODY"
        self.obj.pliant.start.use_pins = True
        self.assertIn("Choose the vertex group", texts(drawn(panels.PLIANT_PT_pins)))
        self.obj.pliant.start.pin_group = "lost"
        self.assertIn('no vertex group "lost"', texts(drawn(panels.PLIANT_PT_pins)))

    def test_a_bake_shows_in_panel_and_timeline(self):
        self.obj.pliant.role = "BODY"
        self.obj.pliant.particles.count = 200
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = 3, 6
        self.assertEqual(timeline.spans(scene), [])
        self.assertIn("Nothing is baked", texts(drawn(panels_bake.PLIANT_PT_cache)))
        bpy.ops.pliant.bake()
        self.assertIn("Frames 3 to 6 are baked", texts(drawn(panels_bake.PLIANT_PT_cache)))
        self.assertEqual([span[:2] for span in timeline.spans(scene)], [(3, 7)])
        bpy.ops.pliant.clear()
        self.assertEqual(timeline.spans(scene), [])

    def test_what_a_bake_complains_of_is_in_the_panel_and_names_the_object(self):
        own = self.obj.pliant
        own.role = "BODY"
        own.clusters.levels, own.clusters.weighting = 2, "MANUAL"
        own.clusters.weights = [0.0] * 16
        bpy.context.scene.frame_end = 3
        with self.assertRaises(RuntimeError):
            bpy.ops.pliant.bake()
        said = texts(drawn(panels_bake.PLIANT_PT_bake))
        self.assertIn("'Suzanne'", said)
        self.assertIn("weight", said.replace(" | ", " "))

    def test_what_a_bake_warns_of_is_in_the_panel(self):
        self.obj.pliant.role = "BODY"
        made = bmesh.new()
        made.from_mesh(self.obj.data)
        bmesh.ops.delete(made, geom=[v for v in made.verts if v.co.z < 0], context="VERTS")
        made.to_mesh(self.obj.data)
        made.free()
        bpy.context.scene.frame_end = 3
        self.assertIn("no volume to keep", texts(drawn(hints.PLIANT_PT_hints)).replace(" | ", " "))
        bpy.ops.pliant.bake()
        said = texts(drawn(panels_bake.PLIANT_PT_bake)).replace(" | ", " ")
        self.assertIn("'Suzanne' keeps no volume", said)

    def test_hints_and_the_bake_take_one_row_always(self):
        """What is below them stays under the pointer."""
        self.obj.pliant.role = "BODY"
        self.obj.pliant.particles.count = 200
        scene = bpy.context.scene
        scene.frame_end = 2
        rows = []

        def count():
            notes = drawn(panels.PLIANT_PT_main)
            first = [note[1] for note in notes].index("pliant.copy_settings")
            own = [note for note in notes[:first] if note[1] not in ("pliant.preview", "role", "pliant.bake")]
            rows.append(own)
            self.assertEqual(own[0][0], "popover" if hints.all_of(bpy.context) else "label", own)
            self.assertLessEqual(len(own), 2, own)  # side by side in one row

        count()  # nothing to land on
        bpy.ops.pliant.add_floor()
        count()
        self.obj.pliant.material.use_pressure = True
        self.obj.pliant.fracture.use_fracture = True
        count()
        self.obj.pliant.fracture.use_fracture = False
        self.assertEqual(rows[0][0][2], "1 Hint")
        self.assertEqual(rows[0][1][2], "Add Floor")
        self.assertEqual(rows[1][0][2], "No hints")
        self.assertEqual(rows[2][0][2], "No volume kept")
        for change in (bpy.ops.pliant.bake, lambda: setattr(self.obj.pliant.material, "damping", 99)):
            notes = drawn(sidebar.PLIANT_PT_sidebar_bake)
            state = notes[[note[1] for note in notes].index("pliant.rebake_from_current") + 1]
            self.assertEqual(state[0], "label", notes)
            change()
            bpy.context.view_layer.update()
            support.addon("ui.outdated").look(scene)
        notes = drawn(sidebar.PLIANT_PT_sidebar_bake)
        self.assertIn("Out of date", texts(notes))
        self.assertLess(
            [note[2] for note in notes].index("Rebake"),
            next(i for i, note in enumerate(notes) if "damping" in str(note[2])),
        )

    def test_too_few_substeps_have_a_button_that_sets_them(self):
        own, scene = self.obj.pliant, bpy.context.scene
        own.role = "BODY"
        own.particles.count = 800
        own.material.stiffness_kind, own.material.young = "YOUNG", 1e8
        scene.frame_end = 2
        for mode, field, name in (("AUTO", "max_substeps", "At Most"), ("FIXED", "substeps", "Number")):
            scene.pliant.substeps_mode = mode
            setattr(scene.pliant, field, 4)
            bpy.ops.pliant.bake()
            needed = runs.needed_substeps(scene)
            notes = drawn(panels_bake.PLIANT_PT_bake)
            said = texts(notes).replace(" | ", " ")
            self.assertIn(f"set the substeps, {name}, to {needed}", said)
            self.assertIn(f"Allow {needed} Substeps", said)
            bpy.ops.pliant.set_substeps(substeps=needed)
            self.assertEqual(getattr(scene.pliant, field), needed)
            self.assertIsNone(runs.needed_substeps(scene))
            bpy.ops.pliant.bake()
            said = texts(drawn(panels_bake.PLIANT_PT_bake)).replace(" | ", " ")
            self.assertNotIn("of the stiffness can be reached", said)

    def test_what_cannot_be_plastic_is_said(self):
        self.obj.pliant.role = "BODY"
        own = self.obj.pliant
        own.material.use_plasticity = True
        self.assertNotIn("goals", texts(drawn(panels.PLIANT_PT_plasticity)))
        own.material.goal = "QUADRATIC"
        self.assertIn("Quadratic goals", texts(drawn(panels.PLIANT_PT_plasticity)))
        own.material.use_plasticity = False
        self.assertNotIn("goals", texts(drawn(panels.PLIANT_PT_plasticity)))

    def test_physics_buttons(self):
        panel = SimpleNamespace(layout=Layout())
        roles.draw_physics_buttons(panel, bpy.context)
        self.assertIn("Pliant Soft Body", texts(panel.layout.notes))
        bpy.ops.object.empty_add()
        panel = SimpleNamespace(layout=Layout())
        roles.draw_physics_buttons(panel, bpy.context)
        self.assertEqual(texts(panel.layout.notes), "Pliant Collider")


class Texts(unittest.TestCase):
    def test_every_property_explains_itself(self):
        for cls in SETTINGS:
            for name, prop in cls.bl_rna.properties.items():
                if name in ("rna_type", "name") or prop.type == "POINTER":
                    continue
                with self.subTest(f"{cls.__name__}.{name}"):
                    self.assertGreater(len(prop.description), 10)
                    self.assertFalse(prop.description.endswith("."), "Blender adds the full stop")
                    if prop.type == "ENUM":
                        for item in prop.enum_items:
                            self.assertGreater(len(item.description), 3, item.name)

    def test_tooltips_of_numbers_tell_their_range(self):
        for cls, name, text in (
            (properties.MaterialSettings, "frequency", "0.01 to 1,000"),
            (properties.ClusterSettings, "size", "1e-6 and more"),
            (properties.ParticleSettings, "count", "4 to 2e7"),
            (properties.PaintSettings, "density_one", "0 to 1,000"),
            (properties.ClusterSettings, "weights", "0 and more"),
        ):
            description = cls.bl_rna.properties[name].description
            self.assertTrue(description.endswith(f". Range: {text}"), description)

    def test_material_can_be_keyframed_but_not_how_it_is_made(self):
        animatable = {
            name
            for name, prop in properties.MaterialSettings.bl_rna.properties.items()
            if prop.is_animatable and name != "rna_type"
        }
        self.assertLessEqual(
            {
                "frequency",
                "young",
                "damping",
                "strain_limit",
                "pressure",
                "inflation",
                "drag",
                "use_strain_limit",
                "use_plasticity",
                "yield_strain",
                "flow",
                "hardening",
                "plastic_limit",
            },
            animatable,
        )
        self.assertTrue(animatable.isdisjoint({"density", "goal"}))

    def test_sizes_and_times(self):
        self.assertEqual(
            [drawing.size(n) for n in (0, 999, 1500, 25_000_000, 3_200_000_000)],
            ["0 bytes", "999 bytes", "1.5 KB", "25 MB", "3.2 GB"],
        )
        self.assertEqual(
            [drawing.duration(n) for n in (0.004, 1.25, 59.6, 61, 125, 7300)],
            ["4 ms", "1.2 s", "60 s", "61 s", "2 min 05 s", "2 h 01 min"],
        )


class Guesses(unittest.TestCase):
    def setUp(self):
        support.fresh()

    def built(self, obj):
        with solver.Scene(threads=1) as scene:
            body = scene.add_body(meshes.positions(obj.data), meshes.triangles(obj.data), **settings.body(obj.pliant))
            return body.info

    def test_particle_counts_are_near(self):
        for kind, sampling in (
            ("monkey", "AUTO"),
            ("ico_sphere", "GRID"),
            ("cube", "BLUE_NOISE"),
            ("plane", "AUTO"),
            ("torus", "SURFACE"),
        ):
            with self.subTest(f"{kind} {sampling}"):
                getattr(bpy.ops.mesh, f"primitive_{kind}_add")()
                obj = bpy.context.object
                obj.pliant.role = "BODY"
                obj.pliant.particles.sampling = sampling
                obj.pliant.particles.mode = "SPACING"
                obj.pliant.particles.spacing = 0.12
                info = self.built(obj)
                guess = fitting.guess_count(obj)
                self.assertLess(abs(guess - info.particles), 0.25 * info.particles)
                clusters = fitting.guess_clusters(obj, guess)
                self.assertLess(abs(clusters - info.level[0].clusters), 0.35 * info.level[0].clusters + 2)

    def test_weights_are_the_librarys(self):
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3)
        obj = bpy.context.object
        obj.pliant.role = "BODY"
        obj.pliant.particles.count = 1500
        clusters = obj.pliant.clusters
        clusters.levels, clusters.reduction = 3, 4
        clusters.weights[:3] = (0.2, 0.5, 1.0)
        for weighting in clusters.bl_rna.properties["weighting"].enum_items.keys():
            for favour in ("COARSE", "FINE"):
                for a, b in ((-1, -1), (0, 0), (10, 0), (3, 1.5)):
                    clusters.weighting, clusters.favour = weighting, favour
                    clusters.weight_a, clusters.weight_b = a, b
                    found = [level.weight for level in self.built(obj).level]
                    expected = weights.level_weights(clusters, len(found))
                    for one, other in zip(found, expected):
                        self.assertAlmostEqual(one, other, places=5, msg=weighting)


if __name__ == "__main__":
    unittest.main()
