# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles of objects: whether an object can have one, and copies of its settings."""

COLLIDERS = {"MESH", "CURVE", "SURFACE", "FONT", "META", "EMPTY"}


def problem_of(obj, role):
    """Why an object cannot have a role; None if it can."""
    if obj.library is not None and obj.override_library is None:
        return f'"{obj.name}" is linked from another file: make a library override first'
    if role == "NONE":
        return None
    if role == "COLLIDER" and obj.type not in COLLIDERS:
        return f'"{obj.name}" has no surface for bodies to collide with'
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
    """Copies a role and its settings, but not the results of a bake."""
    target.fitted_size = source.fitted_size  # otherwise the role would fit the settings again
    target.role = source.role
    for group in COPIED:
        copy_group(getattr(source, group), getattr(target, group))


def copy_group(source, target):
    """Copies every setting of a property group."""
    for name, prop in source.bl_rna.properties.items():
        if name not in ("rna_type", "name") and not prop.is_readonly:
            setattr(target, name, getattr(source, name))


def reset_group(group):
    """Resets all settings of a property group to their defaults."""
    for name, prop in group.bl_rna.properties.items():
        if name not in ("rna_type", "name") and not prop.is_readonly:
            group.property_unset(name)
