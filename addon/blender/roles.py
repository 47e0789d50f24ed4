# SPDX-License-Identifier: GPL-3.0-or-later
"""What an object is to Pliant, whether it can be, and its settings as a whole."""

COLLIDERS = {"MESH", "CURVE", "SURFACE", "FONT", "META", "EMPTY"}


def problem_of(obj, role):
    """Why an object cannot have a role; None if it can."""
    if obj.library is not None and obj.override_library is None:
        return f'"{obj.name}" is linked from another file: make a library override first'
    if role == "NONE":
        return None
    if role == "COLLIDER" and obj.type not in COLLIDERS:
        return f'"{obj.name}" has no surface to bounce off'
    if role == "BODY":
        if obj.type != "MESH":
            return f'"{obj.name}" is not a mesh: only meshes can be soft bodies'
        if not obj.data.polygons and obj.mode != "EDIT":
            return f'"{obj.name}" has no faces to fill with particles'
        if min(abs(value) for value in obj.matrix_world.to_scale()) == 0.0:
            return f'"{obj.name}" has a scale of zero'
    return None


def count_bodies(scene):
    return sum(obj.pliant.role == "BODY" for obj in scene.objects)


COPIED = ("material", "clusters", "particles", "start", "paint", "fracture", "contacts", "collider")


def copy_settings(source, target):
    """Copies a role and its settings; what was made of a bake belongs to each object alone."""
    target.fitted_size = source.fitted_size  # or the role would fit it anew
    target.role = source.role
    for group in COPIED:
        copy_group(getattr(source, group), getattr(target, group))


def copy_group(source, target):
    """Copies every setting of a property group."""
    for name, prop in source.bl_rna.properties.items():
        if name not in ("rna_type", "name") and not prop.is_readonly:
            setattr(target, name, getattr(source, name))


def reset_group(group):
    """All settings of a property group as they are by default."""
    for name, prop in group.bl_rna.properties.items():
        if name not in ("rna_type", "name") and not prop.is_readonly:
            group.property_unset(name)
