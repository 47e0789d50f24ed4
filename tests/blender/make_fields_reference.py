# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures Blender's force fields, for tests/native/dynamics/test_fields.c.

    python make_fields_reference.py OUTPUT.h        (a Python that has the bpy module, 4.2)

Blender has no function that samples a field, but particles feel them: a particle system that emits
from the vertices of a mesh, with Euler integration and no gravity or damping, has after one frame
the velocity v + a dt. Each case has a field and an emitter of its own, tied by a collection.

The permutation behind mathutils.noise's PERLIN_NEW is measured too: near a lattice point the noise
is linear with one of twelve gradients, which depend on P[P[P[x] + y] + z]. Rows along z are shifts
of one sequence, rows along y tell the shifts, and so all of P but for one number follows; only one
value of that number fits the gradients.
"""

import random
import sys

import bpy
from mathutils import Euler, Matrix, Vector, noise

TIMESTEP = 0.04
POINTS = 4

# ---------------------------------------------------------------- the cases

DEFAULTS = {
    "type": "FORCE",
    "shape": "POINT",
    "falloff_type": "SPHERE",
    "z_direction": "BOTH",
    "use_min_distance": False,
    "use_max_distance": False,
    "use_radial_min": False,
    "use_radial_max": False,
    "use_gravity_falloff": False,
    "use_global_coords": False,
    "strength": 1.0,
    "flow": 0.0,
    "falloff_power": 0.0,
    "distance_min": 0.0,
    "distance_max": 0.0,
    "radial_falloff": 0.0,
    "radial_min": 0.0,
    "radial_max": 0.0,
    "harmonic_damping": 0.0,
    "rest_length": 0.0,
    # These do nothing, and are no part of the table: the test shows it.
    "use_2d_force": False,
    "wind_factor": 0.0,
}
# linear_drag is stored where strength is, quadratic_drag where harmonic_damping is, size where
# rest_length is and inflow where flow is.
KINDS = ["FORCE", "WIND", "VORTEX", "HARMONIC", "TURBULENCE", "DRAG"]
SHAPES = ["POINT", "LINE", "PLANE"]
FALLOFFS = ["SPHERE", "TUBE", "CONE"]
SIDES = ["BOTH", "POSITIVE", "NEGATIVE"]


def random_case(rng, kind, shape, falloff):
    case = dict(DEFAULTS, type=kind, shape=shape, falloff_type=falloff)
    case["strength"] = rng.uniform(-2, 2)
    case["z_direction"] = rng.choice(["BOTH", "BOTH", "BOTH", "POSITIVE", "NEGATIVE"])
    case["falloff_power"] = rng.choice([0, 1, 2, 0.5, rng.uniform(0, 4)])
    case["radial_falloff"] = rng.choice([0, 1, 2, rng.uniform(0, 3)])
    case["use_min_distance"] = rng.random() < 0.5
    case["use_max_distance"] = rng.random() < 0.2
    case["distance_min"] = rng.uniform(0, 1.5)
    case["distance_max"] = rng.uniform(1, 4)
    case["use_radial_min"] = rng.random() < 0.5
    case["use_radial_max"] = rng.random() < 0.2
    wide = 60 if falloff == "CONE" else 1
    case["radial_min"] = rng.uniform(0, 1.2) * wide
    case["radial_max"] = rng.uniform(1, 3) * wide
    case["flow"] = rng.choice([0, rng.uniform(0, 1)])
    case["use_2d_force"] = rng.random() < 0.5
    case["wind_factor"] = rng.random()
    if kind == "FORCE":
        case["use_gravity_falloff"] = rng.random() < 0.4
    if kind in ("HARMONIC", "DRAG"):
        case["harmonic_damping"] = rng.uniform(0, 1.5)
    if kind == "HARMONIC":
        case["rest_length"] = rng.choice([0, rng.uniform(0, 2)])
    if kind == "TURBULENCE":
        case["rest_length"] = rng.choice([0, rng.uniform(0.2, 3)])
        case["use_global_coords"] = rng.random() < 0.5
    place = Vector([rng.uniform(-1, 1) for _ in range(3)])
    turn = Euler([rng.uniform(-3, 3) for _ in range(3)]).to_matrix()
    scale = Matrix.Diagonal([rng.uniform(0.5, 2) for _ in range(3)])
    case["matrix"] = Matrix.Translation(place) @ (turn @ scale).to_4x4()
    case["velocity"] = Vector([rng.uniform(-1, 1) for _ in range(3)])
    case["points"] = [Vector([rng.uniform(-2, 2) for _ in range(3)]) for _ in range(POINTS)]
    return case


def special_cases(rng):
    """Strengths beyond what drag allows, far away, and the field's own place."""
    strong = random_case(rng, "DRAG", "POINT", "SPHERE")
    strong.update(strength=5.0, harmonic_damping=4.0, z_direction="BOTH", falloff_power=0, use_max_distance=False)
    far = random_case(rng, "TURBULENCE", "POINT", "SPHERE")
    far.update(
        falloff_power=0,
        z_direction="BOTH",
        use_max_distance=False,
        rest_length=2.0,
        use_global_coords=True,
        strength=1.0,
        points=[
            Vector((300.25, -700.5, 20.125)),
            Vector((-0.5, 255.75, -256.25)),
            Vector((1.0, 2.0, 3.0)),
            Vector((-1.5, 0.0, 511.0)),
        ],
    )
    steep = random_case(rng, "FORCE", "POINT", "SPHERE")
    steep.update(
        falloff_power=10,
        use_gravity_falloff=True,
        z_direction="BOTH",
        use_max_distance=False,
        use_min_distance=False,
        strength=100.0,
    )
    return [strong, far, steep]


def all_cases():
    rng = random.Random(2026)
    cases = []
    for kind in KINDS:
        for shape in SHAPES:
            if (kind, shape) == ("VORTEX", "LINE"):
                continue  # Blender has no such choice
            for falloff in FALLOFFS:
                cases += [random_case(rng, kind, shape, falloff) for _ in range(2)]
    return cases + special_cases(rng)


# ---------------------------------------------------------------- measuring


def build(scene, index, case):
    collection = bpy.data.collections.new(f"case {index}")
    scene.collection.children.link(collection)
    field = bpy.data.objects.new(f"field {index}", None)
    collection.objects.link(field)
    field.matrix_world = case["matrix"]
    bpy.context.view_layer.objects.active = field
    bpy.ops.object.forcefield_toggle()
    for name in DEFAULTS:
        setattr(field.field, name, case[name])

    mesh = bpy.data.meshes.new(f"points {index}")
    mesh.from_pydata(case["points"], [], [])
    emitter = bpy.data.objects.new(f"points {index}", mesh)
    scene.collection.objects.link(emitter)
    emitter.modifiers.new("particles", "PARTICLE_SYSTEM")
    settings = emitter.particle_systems[0].settings
    settings.count = POINTS
    settings.frame_start = settings.frame_end = 1
    settings.lifetime = 100
    settings.emit_from = "VERT"
    settings.use_emit_random = False
    settings.physics_type = "NEWTON"
    settings.integrator = "EULER"
    settings.timestep = TIMESTEP
    settings.mass = 1
    settings.normal_factor = 0
    settings.object_align_factor = case["velocity"]
    settings.damping = settings.drag_factor = settings.brownian_factor = 0
    settings.effector_weights.gravity = 0
    settings.effector_weights.collection = collection
    return emitter


def states(scene, emitters):
    depsgraph = bpy.context.evaluated_depsgraph_get()
    result = []
    for emitter in emitters:
        particles = emitter.evaluated_get(depsgraph).particle_systems[0].particles
        result.append([(p.location.copy(), p.velocity.copy()) for p in particles])
    return result


def measure(cases):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.use_gravity = False
    scene.frame_start, scene.frame_end = 1, 3
    emitters = [build(scene, i, case) for i, case in enumerate(cases)]
    scene.frame_set(1)
    before = states(scene, emitters)
    scene.frame_set(2)
    after = states(scene, emitters)
    samples = []
    for i, (start, end) in enumerate(zip(before, after)):
        assert len(start) == POINTS
        for (x, v), (_, w) in zip(start, end):
            samples.append((i, x, v, (w - v) / TIMESTEP))
    return samples


# ---------------------------------------------------------------- the noise


def gradient_number(x, y, z):
    """Which of the gradients (0 to 11, as in gradients()) the lattice point has."""
    step = 1 / 64
    parts = []
    for axis in range(3):
        p = [float(x), float(y), float(z)]
        p[axis] += step
        up = noise.noise(p, noise_basis="PERLIN_NEW")
        p[axis] -= 2 * step
        down = noise.noise(p, noise_basis="PERLIN_NEW")
        parts.append(round((up - down) / (2 * step)))
    return tuple(parts)


def gradient_of(value):
    """Perlin's choice of a gradient from the low four bits of a hash."""
    h = value & 15
    parts = [0, 0, 0]
    first = 0 if h < 8 else 1
    second = 1 if h < 4 else (0 if h in (12, 14) else 2)
    parts[first] += -1 if h & 1 else 1
    parts[second] += -1 if h & 2 else 1
    return tuple(parts)


def measured_permutation():
    """P, from gradients alone."""
    sequence = [gradient_number(0, 0, z) for z in range(256)]

    def shift_of(row, length=24):
        found = [s for s in range(256) if all(sequence[(s + i) % 256] == row(i) for i in range(length))]
        assert len(found) == 1
        return found[0]

    # Q[y] = P[P[0] + y] up to a constant; the row at x is Q shifted by P[x] - P[0].
    shifts = [shift_of(lambda i, y=y: gradient_number(0, y, i)) for y in range(256)]
    differences = []
    for x in range(256):
        first = shift_of(lambda i: gradient_number(x, 0, i))
        second = shift_of(lambda i: gradient_number(x, 1, i))
        differences.append(next(d for d in range(256) if shifts[d] == first and shifts[(d + 1) % 256] == second))
    fits = []
    for start in range(256):
        p = [(start + d) % 256 for d in differences]
        points = [(x, y, z) for x in range(0, 256, 51) for y in range(0, 256, 37) for z in (0, 9)]
        if all(gradient_of(p[(p[(p[x] + y) % 256] + z) % 256]) == gradient_number(x, y, z) for x, y, z in points):
            fits.append(p)
    assert len(fits) == 1 and sorted(fits[0]) == list(range(256))
    return fits[0]


# ---------------------------------------------------------------- the header


def number(value):
    return f"{value:.9g}"


def row(values):
    return "{" + ", ".join(number(v) for v in values) + "}"


def case_text(case):
    switches = [
        KINDS.index(case["type"]),
        SHAPES.index(case["shape"]),
        FALLOFFS.index(case["falloff_type"]),
        SIDES.index(case["z_direction"]),
    ]
    switches += [
        int(case[name])
        for name in (
            "use_min_distance",
            "use_max_distance",
            "use_radial_min",
            "use_radial_max",
            "use_gravity_falloff",
            "use_global_coords",
        )
    ]
    numbers = [
        case[name]
        for name in (
            "strength",
            "flow",
            "falloff_power",
            "distance_min",
            "distance_max",
            "radial_falloff",
            "radial_min",
            "radial_max",
            "harmonic_damping",
            "rest_length",
        )
    ]
    matrix = [case["matrix"][i][j] for i in range(4) for j in range(4)]
    return "    {" + row(switches) + ", " + row(numbers) + ",\n     " + row(matrix) + "},"


def write(path, cases, samples, permutation):
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"""// SPDX-License-Identifier: GPL-3.0-or-later
/* Made by tests/blender/make_fields_reference.py with Blender {bpy.app.version_string}: what its
 * force fields do to particles. Do not edit. */
/* clang-format off */

/* kind, shape, falloff type, side; use of min, max, radial min, radial max, gravitation, global |
 * strength, flow, power, min, max, radial power, radial min, radial max, damping, size | matrix */
static const field_case field_cases[] = {{
""")
        out.write("\n".join(case_text(case) for case in cases) + "\n};\n\n")
        out.write("/* case, position, velocity, acceleration */\nstatic const field_sample field_samples[] = {\n")
        for index, x, v, a in samples:
            out.write(f"    {{{index}, {row(x)}, {row(v)}, {row(a)}}},\n")
        out.write(
            "};\n\n/* The permutation of mathutils.noise, PERLIN_NEW. */\n"
            "static const unsigned char measured_permutation[256] = {\n"
        )
        for i in range(0, 256, 16):
            out.write("    " + " ".join(f"{p}," for p in permutation[i : i + 16]) + "\n")
        out.write("};\n/* clang-format on */\n")


def main():
    cases = all_cases()
    samples = measure(cases)
    write(sys.argv[1], cases, samples, measured_permutation())
    moving = sum(1 for s in samples if s[3].length > 0)
    print(f"{len(cases)} cases, {len(samples)} samples, {moving} of them with a force")


if __name__ == "__main__":
    main()
