# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials by name: a built-in table, and the user's presets as Blender stores them.

Built-in materials are for a body of one metre and are fitted to the object's size (fitting.py),
which a preset file cannot do; they also need no preset folder. The user's are files in Blender's
preset folder, written and run by Blender's own preset operators.
"""

import bpy

from . import fitting, settings

FIRST, FIRST_OPEN = "Rubber", "Sheet"  # materials of a new body: solid; enclosing no volume
SUBFOLDER = "pliant/material"

# Defaults that every preset starts from, so that no setting of the previous one remains.
PLAIN = {
    "stiffness_kind": "FREQUENCY",
    "frequency": 10.0,
    "damping": 3.0,
    "damping_per_step": False,
    "density": 1000.0,
    "use_strain_limit": False,
    "strain_limit": 0.3,
    "strain_relaxation": 0.3,
    "strain_iterations": 4,
    "goal": "RIGID",
    "beta": 0.5,
    "use_pressure": False,
    "pressure": 1.0,
    "inflation": 1.0,
    "drag": 0.0,
    "rotation": "GRADIENT",
    "use_plasticity": False,
    "yield_strain": 0.05,
    "flow": 20.0,
    "hardening": 0.0,
    "plastic_limit": 0.0,
    "flow_per_step": False,
    "use_recluster": True,
    "use_resample": False,
    "recluster_condition": 2.0,
    "recluster_fade_in": 0.4,
    "recluster_fade_out": 0.6,
    "recluster_least": 0,
}


# The same for fracture, except for what the user chooses: limits, seams, materials.
PLAIN_FRACTURE = {
    "use_fracture": False,
    "toughness": 0.1,
    "boost": 0.0,
    "falloff": 3.0,
    "use_settle": True,
    "roughness": 0.15,
    "grain": 0.7,
    "smoothing": 1.0,
    "opening": 2.0,
}


def plastic(yield_strain, flow, hardening, limit, **others):
    """Differences from PLAIN for a plastic material. The limit keeps thin parts, such as ears, from
    being drawn out without end."""
    return {
        "use_plasticity": True,
        "yield_strain": yield_strain,
        "flow": flow,
        "hardening": hardening,
        "plastic_limit": limit,
        **others,
    }


def filled(pressure, **others):
    """Differences from PLAIN for a material that keeps its volume: it bulges where it is squashed.
    Pressure is relative to the body's weight, as in fitting.py."""
    return {"goal": "LINEAR", "use_pressure": True, "pressure": pressure, **others}


SKIN = {"particles.sampling": "SURFACE"}
# Small clusters, or it would be too stiff to fold; thin, or wind would not move it. Lengths are for
# a skin of one square metre.
CLOTH = {**SKIN, "particles.thickness": 0.004, "clusters.count_mode": "SIZE", "clusters.size": 0.04}
LENGTHS = {"particles.thickness", "clusters.size"}

# name: (description, differences from PLAIN, other settings that it needs)
TABLE = {
    "Rubber": (
        "Springs back and bounces: balls, erasers",
        filled(20.0, frequency=16.0, damping=8.0, density=1100.0),
        {},
    ),
    "Jelly": (
        "Wobbles long and slowly: pudding, slime with a shape",
        filled(10.0, frequency=8.0, damping=5.0, beta=0.3),
        {},
    ),
    "Foam": (
        "Gives way easily, comes back without swinging: cushions, mattresses",
        {"frequency": 9.0, "damping": 90.0, "density": 60.0, "drag": 0.2},
        {},
    ),
    "Flesh": (
        "Heavy and soft, comes to rest soon: bellies, cheeks, tails",
        filled(20.0, frequency=9.0, damping=50.0, density=1050.0),
        {},
    ),
    "Balloon": (
        "A thin skin filled with air: keeps its volume, falls slowly",
        {
            "frequency": 14.0,
            "damping": 5.0,
            "density": 40.0,
            "use_pressure": True,
            "pressure": 60.0,
            "inflation": 1.05,
            "drag": 1.5,
        },
        SKIN,
    ),
    "Tyre": (
        "Firm, hardly bends: tyres, shoe soles, hard rubber",
        {"frequency": 40.0, "damping": 120.0, "density": 1200.0},
        {},
    ),
    "Plush": (
        "Limp, without wobbling: soft toys, pillows",
        {"frequency": 7.0, "damping": 60.0, "density": 150.0, "drag": 0.4},
        {},
    ),
    "Sheet": (
        "Cloth-like: bends easily, hardly stretches: flags, leaves, paper",
        {
            "frequency": 2.4,
            "damping": 4.0,
            "density": 300.0,
            "use_strain_limit": True,
            "strain_limit": 0.03,
            "strain_iterations": 16,
            "strain_relaxation": 1.0,
            "drag": 0.3,
        },
        CLOTH,
    ),
    "Clay": (
        "Does not bounce, and keeps every dent and thumb mark",
        plastic(0.012, 250.0, 0.05, 0.8, frequency=22.0, damping=20.0, density=1800.0),
        {},
    ),
    "Taffy": (
        "Springs back from a blow, but sags and draws out under its own weight: toffee, putty",
        plastic(0.0, 9.0, 0.02, 1.5, frequency=12.0, damping=5.0, density=1300.0, use_resample=True),
        {},
    ),
    "Dough": (
        "Soft and limp; springs back a little, stays flattened",
        plastic(0.03, 40.0, 0.1, 0.8, frequency=13.0, damping=16.0, density=600.0),
        {},
    ),
    "Lead": (
        "Heavy and firm, hardly springs back: dents where it is hit",
        plastic(0.004, 600.0, 0.03, 0.8, frequency=40.0, damping=20.0, density=11300.0),
        {},
    ),
    "Wax": (
        "Firm, bounces a little, takes small dents and can be bent by hand",
        plastic(0.012, 120.0, 0.1, 0.6, frequency=36.0, damping=80.0, density=900.0),
        {},
    ),
    "Snow": (
        "Packs where it lands; the more it is pressed the firmer it gets: snowballs",
        plastic(0.006, 400.0, 0.15, 0.5, frequency=16.0, damping=12.0, density=300.0),
        {},
    ),
    "Glass-like": (
        "Does not bend: shatters into sharp, smooth pieces",
        {"frequency": 60.0, "damping": 20.0, "density": 2500.0},
        {},
    ),
    "Ceramic": (
        "Hard and brittle: plates, pots, plaster; breaks into few coarse pieces",
        {"frequency": 60.0, "damping": 25.0, "density": 2300.0},
        {},
    ),
    "Chocolate": (
        "Hard, bends a little, then snaps",
        plastic(0.02, 30.0, 0.1, 0.3, frequency=50.0, damping=15.0, density=1300.0),
        {},
    ),
    "Bread": (
        "Soft and light; tears open with a ragged crumb",
        plastic(0.08, 20.0, 0.1, 0.6, frequency=14.0, damping=10.0, density=250.0),
        {},
    ),
    "Taffy that Tears": (
        "Draws out, grows thin and tears: toffee, chewing gum, hot cheese",
        plastic(0.0, 9.0, 0.02, 3.0, frequency=12.0, damping=5.0, density=1300.0),
        {},
    ),
    "Flesh that Tears": (
        "Heavy and soft; stretches far, then rips",
        plastic(0.15, 6.0, 0.2, 0.5, frequency=11.0, damping=8.0, density=1050.0),
        {},
    ),
}

# Differences from PLAIN_FRACTURE for materials that break.
BREAKS = {
    "Glass-like": {
        "toughness": 0.004,
        "boost": 2.0,
        "falloff": 6.0,
        "roughness": 0.03,
        "grain": 1.5,
        "smoothing": 1.5,
        "opening": 1.0,
    },
    "Ceramic": {"toughness": 0.008, "boost": 6.0, "falloff": 3.0, "roughness": 0.12, "grain": 0.5, "opening": 1.0},
    "Chocolate": {"toughness": 0.03, "boost": 4.0, "roughness": 0.15, "grain": 0.8},
    "Bread": {"toughness": 0.2, "boost": 2.0, "roughness": 0.45, "grain": 0.6, "opening": 3.0},
    "Taffy that Tears": {
        "toughness": 0.35,
        "boost": 2.0,
        "roughness": 0.05,
        "grain": 2.0,
        "smoothing": 2.0,
        "opening": 4.0,
    },
    "Flesh that Tears": {"toughness": 0.4, "boost": 2.0, "roughness": 0.25, "grain": 0.9, "opening": 4.0},
}


def values(name, length, encloses=True, pull=fitting.GRAVITY):
    """All material settings of a built-in preset for a body of a size in metres. A solid one keeps
    its volume only if the mesh encloses one; a balloon always does, and the bake warns."""
    found = fitting.scaled({**PLAIN, **TABLE[name][1]}, length, pull)
    if not encloses and not TABLE[name][2].get("particles.sampling"):
        found["use_pressure"] = False
    return found


def _others(obj, name):
    """{(group of settings, name): value} outside of the material that a preset needs."""
    length = fitting.skin_size(obj)
    return {
        tuple(path.split(".")): value * length if path in LENGTHS else value for path, value in TABLE[name][2].items()
    }


def fracture_values(name, length, pull=fitting.GRAVITY):
    """The same for fracture; reset if the material does not break."""
    return fitting.scaled({**PLAIN_FRACTURE, "use_fracture": name in BREAKS, **BREAKS.get(name, {})}, length, pull)


def apply(obj, name):
    """Gives an object a built-in material. KeyError if there is none of that name."""
    material = obj.pliant.material
    scene = bpy.context.scene
    wanted, pull = _others(obj, name), fitting.gravity(scene)
    length = fitting.size(obj) * settings.metres(scene)
    for key, value in values(name, length, fitting.encloses(obj), pull).items():
        setattr(material, key, value)
    if name in BREAKS or material.preset in BREAKS:  # otherwise fracture is the user's choice
        for key, value in fracture_values(name, length, pull).items():
            setattr(obj.pliant.fracture, key, value)
    if material.preset in TABLE:
        _take_back(obj, _others(obj, material.preset), wanted)
    for (group, key), value in wanted.items():
        setattr(getattr(obj.pliant, group), key, value)
    material.preset = name


def _take_back(obj, former, wanted):
    """Resets what the last preset needed, unless the user has changed it since."""
    for (group, key), value in former.items():
        own = getattr(obj.pliant, group)
        found = getattr(own, key)
        same = abs(found - value) <= 1e-4 * value if isinstance(value, float) else found == value
        if same and (group, key) not in wanted:
            own.property_unset(key)


def first(obj):
    """The material of a new body."""
    return FIRST if fitting.sampled_kind(obj) != "SURFACE" else FIRST_OPEN


def fit(obj):
    """Sets what depends on the object's size, for a first bake that looks right."""
    settings = obj.pliant
    length = fitting.size(obj)
    settings.fitted_size = length
    if obj.type != "MESH":
        return
    count = settings.particles.count
    settings.particles.spacing = fitting.guess_spacing(obj, count)
    settings.clusters.size = (fitting.PARTICLES_PER_CLUSTER ** (1 / 3)) * settings.particles.spacing
    settings.clusters.radius = 1.5 * settings.clusters.size
    apply(obj, first(obj))
