# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion of property groups to the plain dicts of the library's Python interface.

Nothing is evaluated or cached: a settings group of an original object gives what is constant during
a bake, one of an evaluated object gives animated values.
"""

import math

import numpy as np

from ..bake.fracture_cells import MOST as MOST_CELLS
from ..bake.shot import Pattern
from ..solver import Clustering, Goal, Kernel, LevelKind, Recluster, Rotation, Sampling, Shells, Stiffness, Weighting

# settings that vertex groups can multiply
PAINTED = ("stiffness", "damping", "strain_limit", "density", "yield", "flow", "hardening", "toughness")
PLASTIC = ("yield", "flow", "hardening")  # those that apply to plastic bodies only
CONTACT_GROUPS = 8  # collision groups that the user can choose from
# single precision, as in Blender
_USUAL = {
    "max_iterations": 100,
    "fixed": False,
    "recluster_least": 0,
    "recluster_fade_in": float(np.float32(0.4)),
    "recluster_fade_out": float(np.float32(0.6)),
}
QUICK_LEAST = 200  # least number of particles of a body in a quick bake


def sample(particles, quick=1.0):
    """Keywords of pliant_sample_desc; `quick`: share of the particles to use."""
    out = {
        "mode": Sampling[particles.sampling],
        "seed": particles.seed,
        "thickness": particles.thickness,
        "shells_apart": int(Shells[particles.shells]),
    }
    if particles.mode == "SPACING":
        # a third of the particles means three times the volume for each: spacing cubed
        out["spacing"] = particles.spacing / quick ** (1 / 3)
    else:
        out["count"] = max(min(particles.count, QUICK_LEAST), round(particles.count * quick))
    return out


def cluster(clusters, seed=0, quick=1.0):
    out = {
        "algorithm": Clustering[clusters.algorithm],
        "kernel": Kernel[clusters.kernel],
        "kernel_parameter": clusters.kernel_parameter,
        "overlap": clusters.overlap,
        "seed": seed,
    }
    if clusters.count_mode == "COUNT":
        # fewer particles carry fewer clusters
        out["count"] = max(1, round(clusters.count * quick))
    elif clusters.count_mode == "SIZE":
        out["cluster_size"] = clusters.size / quick ** (1 / 3)
    if clusters.radius_mode == "FIXED":
        out["radius"] = clusters.radius
    out.update(_unusual(clusters, "max_iterations", "fixed"))
    return out


def _unusual(group, *names):
    """The settings that differ from their defaults: bakes made before a setting existed keep their
    fingerprints."""
    return {name: value for name in names if (value := getattr(group, name)) != _USUAL[name]}


def levels(clusters):
    return {
        "kind": LevelKind[clusters.level_kind],
        "count": clusters.levels,
        "reduction": clusters.reduction,
        "radius_multiplier": clusters.radius_multiplier,
        "weighting": Weighting[clusters.weighting],
        "favour_fine": int(clusters.favour == "FINE"),
        "a": clusters.weight_a,
        "b": clusters.weight_b,
        "weights": list(clusters.weights),
        "damping": list(clusters.level_damping),
    }


def metres(scene):
    """Length of a Blender unit in metres. Positions, velocities, gravity and every setting that
    Blender shows with a unit are in Blender units; so are the library's. Pascals are in metres."""
    units = scene.unit_settings
    return units.scale_length if units.system != "NONE" else 1.0


def pressure(pascals, metre):
    """Converts pascals to a unit of length of that many metres. They are compared with weight over
    area and with speed squared times density, which scale with lengths squared; density stays a
    number per cubic unit, which only changes the unit of mass."""
    return pascals / (metre * metre)


def material(settings, breaks=False, metre=1.0):
    """Keywords of pliant_material_desc. A body that may break keeps no volume."""
    kind = Stiffness[settings.stiffness_kind]
    stiffness = {
        Stiffness.FREQUENCY: settings.frequency,
        Stiffness.YOUNG: pressure(settings.young, metre),
        Stiffness.ALPHA: settings.alpha,
    }[kind]
    return {
        "stiffness_kind": kind,
        "stiffness": stiffness,
        "damping": settings.damping,
        "damping_per_step": int(settings.damping_per_step),
        "density": settings.density,
        "strain_limit": settings.strain_limit if settings.use_strain_limit else 0.0,
        "strain_relaxation": settings.strain_relaxation,
        "strain_iterations": settings.strain_iterations,
        "goal": Goal[settings.goal],
        "beta": settings.beta,
        "rotation": Rotation[settings.rotation],
        "pressure": pressure(settings.pressure, metre)
        if settings.use_pressure and not (breaks or resamples(settings))
        else 0.0,
        "inflation": settings.inflation,
        "drag": settings.drag,
        "yield": settings.yield_strain if settings.use_plasticity else math.inf,
        "flow": settings.flow,
        "hardening": settings.hardening,
        "plastic_limit": settings.plastic_limit,
        "recluster": Recluster.ON if settings.use_recluster else Recluster.OFF,
        "recluster_condition": settings.recluster_condition,
        "resample": int(resamples(settings)),
        "flow_per_step": int(settings.flow_per_step),
        **_unusual(settings, "recluster_fade_in", "recluster_fade_out", "recluster_least"),
    }


def resamples(settings):
    """Whether a body is resampled; such a body keeps no volume."""
    return settings.use_plasticity and settings.use_resample


def plastic_refusal(pliant):
    """Why a body cannot be plastic with its settings, as the end of a sentence, or None."""
    if not pliant.material.use_plasticity:
        return None
    if pliant.material.goal == "QUADRATIC":
        return "quadratic goals cannot keep a new shape: choose rigid or linear goals (Advanced)"
    if pliant.clusters.levels > 1 and pliant.clusters.level_kind == "INDEPENDENT":
        return "independent levels would pull it back to its old shape: choose nested levels (Advanced)"
    if pliant.fracture.use_fracture and resamples(pliant.material):
        return "cracks would have no surface where particles are added: switch off Resample or Fracture"
    return None


def fracture(own, start, fps):
    """Keywords of Body.set_fracture from a body's settings; None: it does not break. A frame is
    simulated from the end of the one before it; fracture starts slightly after that end, since a
    substep that ends there still belongs to that frame."""
    if not own.use_fracture:
        return None
    first = own.first_frame - 1 - start + 0.0011 if own.use_first_frame else 0.0
    return {
        "toughness": own.toughness,
        "boost": own.boost,
        "falloff": own.falloff,
        "settle": int(own.use_settle),
        "first_time": max(0.0, first / fps),
        "smallest_piece": own.smallest_piece / 100,
        "most_pieces": own.most_pieces,
    }


def pattern(own):
    """The Pattern of a body's fracture settings, without an object's points, or None."""
    if not own.use_fracture or own.breaks != "CELLS":
        return None
    found = {"COUNT": {"count": own.cells}, "SIZE": {"size": own.cell_size}, "OBJECT": {}}
    return Pattern(**found[own.cells_from], seed=own.cell_seed if own.cells_from != "OBJECT" else 0)


def pattern_problem(obj):
    """Why an object's vertices cannot be the centres of cells, as the end of a sentence about the
    body, or None."""
    other = obj.pliant.fracture.cells_object
    if other is None or other.type != "MESH":
        return "is to break along cells about an object's vertices: choose a mesh"
    if not 2 <= len(other.data.vertices) <= MOST_CELLS:
        return (
            f"cannot break along cells about '{other.name}', which has "
            f"{len(other.data.vertices):,} vertices: it must have 2 to {MOST_CELLS:,}"
        )
    return None


def fracture_refusal(pliant):
    """Why a body cannot break with its settings, as the end of a sentence, or None."""
    if not pliant.fracture.use_fracture:
        return None
    if pliant.material.goal == "QUADRATIC":
        return "quadratic goals hold it together: choose rigid or linear goals (Advanced)"
    if pliant.clusters.levels > 1 and pliant.clusters.level_kind == "INDEPENDENT":
        return "independent levels would hold its pieces together: choose nested levels (Advanced)"
    return None


def presettles(pliant, is_sheet=False):
    """Whether a body starts in equilibrium under gravity. Sheets fall into folds."""
    return pliant.start.use_pins and pliant.start.use_presettle and not is_sheet and presettle_problem(pliant) is None


def presettle_problem(pliant):
    """Why a body that should start in equilibrium cannot, as the end of a sentence, or None."""
    if not pliant.start.use_pins or not pliant.start.use_presettle:
        return None
    if pliant.material.goal == "QUADRATIC":
        return (
            "quadratic goals have no rest shape that carries weight. Choose rigid or linear goals "
            "(Advanced), or switch Pre-settle off (Pins)"
        )
    if pliant.clusters.levels > 1 and pliant.clusters.level_kind == "INDEPENDENT":
        return (
            "independent levels have rest shapes of their own. Choose nested levels (Advanced), or "
            "switch Pre-settle off (Pins)"
        )
    return None


def body(pliant, quick=1.0):
    """Keywords of Scene.add_body except for the material, which is set each frame."""
    start = pliant.start
    return {
        "sample": sample(pliant.particles, quick),
        "cluster": cluster(pliant.clusters, pliant.particles.seed, quick),
        "levels": levels(pliant.clusters),
        "velocity": tuple(start.velocity),
        "angular_velocity": tuple(start.angular_velocity),
    }


def frame_range(scene):
    """(start, end) of a bake."""
    own = scene.pliant
    if own.use_scene_frames:
        return scene.frame_start, scene.frame_end
    return own.frame_start, own.frame_end


def frame_rate(scene):
    return scene.render.fps / scene.render.fps_base


def gravity(scene):
    if scene.use_gravity and scene.pliant.use_gravity:
        return tuple(scene.gravity)
    return (0.0, 0.0, 0.0)


def contacts(own):
    """Keywords of Scene.set_contacts from a scene's settings; None: bodies do not collide."""
    if not own.use_contacts:
        return None
    return {
        "friction": own.contact_friction,
        "restitution": own.contact_restitution,
        "thickness": own.contact_thickness,
        "stiffness": own.contact_stiffness,
        "iterations": own.contact_iterations,
    }


def sleep(own):
    """Arguments of Scene.set_sleep; None: bodies do not."""
    return (own.sleep_speed, own.sleep_seconds) if own.use_sleep else None


def body_surface(own):
    """Arguments of Body.set_surface, or None."""
    return (own.friction, own.restitution, own.thickness) if own.use_surface else None


def weld_problem(obj, other):
    """Why an object cannot be welded to another, as the end of a sentence about it, or None."""
    if other is None:
        return "is to be welded to nothing: choose a soft body or a collider, or remove the weld"
    if other == obj:
        return "cannot be welded to itself"
    if other.pliant.role == "NONE":
        return f"cannot be welded to '{other.name}', which is neither a soft body nor a collider"
    if obj.pliant.role == other.pliant.role == "COLLIDER":
        return f"cannot be welded to '{other.name}': both are colliders, and one must be a soft body"
    return None


def body_contacts(bodies):
    """Arguments of Body.set_contacts for each of these settings, and how many bodies got no group
    of their own. In the library no group means every group: a body that collides with no other
    gets an unused group, while there are any."""
    out, alone = [], 0
    for own in bodies:
        groups = sum(1 << i for i, on in enumerate(own.groups) if on) if own.use_others else 0
        if not groups:
            groups = 1 << min(len(own.groups) + alone, 31)
            alone += 1
        out.append((groups, own.use_self))
    return out, max(0, alone - (32 - CONTACT_GROUPS))


def most_substeps(own):
    """Substeps that a scene's settings allow for a frame."""
    return own.substeps if own.substeps_mode == "FIXED" else own.max_substeps


def shot_settings(scene):
    """Keywords of Shot that come from the scene's settings."""
    own = scene.pliant
    return {
        "substeps": own.substeps if own.substeps_mode == "FIXED" else 0,
        "max_substeps": own.max_substeps,
        "threads": own.threads,
        "compression": own.compression,
        "checkpoint_every": own.checkpoint_every,
    }
