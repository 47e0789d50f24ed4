# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters of Blender's force fields at a frame, for the library's fields of the same names."""

from ...solver import Falloff, FalloffSide, FieldKind, FieldShape

KINDS = {kind.name: kind for kind in FieldKind}
SHAPES = {shape.name: shape for shape in FieldShape}
NUMBERS = (
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
    "linear_drag",
    "quadratic_drag",
)
SWITCHES = (
    "use_min_distance",
    "use_max_distance",
    "use_radial_min",
    "use_radial_max",
    "use_gravity_falloff",
    "use_global_coords",
)


def is_field(obj):
    return obj.field is not None and obj.field.type != "NONE"


def refusal(obj):
    """Why a field cannot act, as a sentence that names it, or None."""
    field = obj.field
    if field.type not in KINDS:
        kind = field.type.replace("_", " ").lower()
        return f"The force field '{obj.name}' is a {kind}, which has no effect on soft bodies."
    if field.shape not in SHAPES:
        return (
            f"The force field '{obj.name}' has the shape {field.shape.lower()}, which is not "
            f"supported: it has no effect."
        )
    return None


def remarks(obj):
    """Sentences on properties of a field that are ignored."""
    field, out = obj.field, []
    if field.noise > 0:
        out.append(f"The noise of the force field '{obj.name}' is not supported and is ignored.")
    if field.use_absorption:
        out.append(f"The absorption of the force field '{obj.name}' is not supported and is ignored.")
    if not field.apply_to_location:
        out.append(f"The force field '{obj.name}' does not affect locations: it has no effect.")
    return out


def parameters(obj, matrix):
    """Keywords of pliant_field_desc for an evaluated object."""
    field = obj.field
    out = {name: float(getattr(field, name)) for name in NUMBERS}
    out.update({name: int(getattr(field, name)) for name in SWITCHES})
    out.update(
        shape=SHAPES[field.shape],
        falloff_type=Falloff[field.falloff_type],
        side=FalloffSide[field.z_direction],
        noise_size=float(field.size),
        matrix=tuple(float(v) for v in matrix.reshape(-1)),
    )
    if not field.apply_to_location:
        out["strength"] = out["linear_drag"] = out["quadratic_drag"] = 0.0
    return out
