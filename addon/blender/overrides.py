# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of library overrides that Blender does not save.

Blender saves an override as differences from the linked object. From 5.0 on this fails for a
property group that the linked object does not have, as when it was linked from a file made without
the add-on. Such settings are stored with the scene as text before saving, and restored after
loading.
"""

import json

import bpy


def told(group):
    """The settings of a group, as JSON can hold them."""
    found = {}
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if name in ("rna_type", "name") or not group.is_property_set(name):
            continue
        value = getattr(group, name)
        if prop.type == "POINTER":
            if isinstance(value, bpy.types.ID):
                found[name] = value.name
            elif value is not None and (inside := told(value)):
                found[name] = inside
        elif prop.type == "COLLECTION":
            found[name] = [told(item) for item in value]
        else:
            found[name] = list(value) if getattr(prop, "is_array", False) else value
    return found


def give(group, values):
    """Restores settings. The file is untrusted: values that do not fit are skipped."""
    for name, value in values.items():
        prop = group.bl_rna.properties.get(name)
        try:
            if prop is None:
                continue
            if prop.type == "COLLECTION":
                items = getattr(group, name)
                items.clear()
                for item in value:
                    give(items.add(), item)
            elif prop.type == "POINTER" and isinstance(value, dict):
                give(getattr(group, name), value)
            elif prop.type == "POINTER":
                setattr(group, name, _block(prop.fixed_type.identifier, value))
            else:
                setattr(group, name, value)
        except (AttributeError, TypeError, ValueError):
            pass


def _block(kind, name):
    """The data-block of a kind ("Object") by its name, or None."""
    holder = {"Object": bpy.data.objects, "Mesh": bpy.data.meshes, "Material": bpy.data.materials}.get(kind)
    return holder.get(name) if holder is not None and name else None


def _forgotten(scene):
    """Overrides in a scene whose linked objects have no settings."""
    return [
        obj
        for obj in scene.objects
        if obj.override_library is not None
        and obj.override_library.reference is not None
        and not told(obj.override_library.reference.pliant)
    ]


def keep():
    """Before a file is written."""
    for scene in bpy.data.scenes:
        if scene.library is None:
            kept = {obj.name: values for obj in _forgotten(scene) if (values := told(obj.pliant))}
            text = json.dumps(kept) if kept else ""
            if scene.pliant.override_settings != text:
                scene.pliant.override_settings = text


def give_back():
    """After a file was opened."""
    for scene in bpy.data.scenes:
        try:
            kept = json.loads(scene.pliant.override_settings or "{}")
        except ValueError:
            continue
        for obj in _forgotten(scene):
            values = kept.get(obj.name) if isinstance(kept, dict) else None
            if isinstance(values, dict) and told(obj.pliant) != values:
                give(obj.pliant, values)
