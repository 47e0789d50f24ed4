# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared state of the readers of one capture, and their view of objects."""

import bpy
import numpy as np

from .. import modifiers
from . import mesh_hash
from .refusals import CaptureError

FARTHEST = 1e7  # metres from the world origin


def bodies(scene):
    """Sorted by name: this is the order of the bodies in the cache."""
    return _with_role(scene, "BODY")


def collider_objects(scene):
    return _with_role(scene, "COLLIDER")


def _with_role(scene, role):
    return sorted((o for o in scene.objects if o.pliant.role == role), key=lambda o: o.name)


def view_layer_of(scene):
    context = bpy.context
    return context.view_layer if context.scene == scene else scene.view_layers[0]


class Evaluated:
    """Objects as Blender evaluates them at the current frame. staleness.py has another view."""

    def origin(self, scene, graph):
        """Where it is known; None: it follows from where the bodies are."""

    def mesh(self, _obj, evaluated):
        return evaluated.data

    def settings(self, obj, graph):
        return obj.evaluated_get(graph).pliant

    def mark(self, obj):
        return mesh_hash.mark(obj)

    def check_same_vertices(self, obj, mesh):
        if len(mesh.vertices) != len(obj.data.vertices):
            raise CaptureError(
                f"The modifiers of '{obj.name}' change its vertices ({len(obj.data.vertices)} to "
                f"{len(mesh.vertices)}): put them after the '{modifiers.PLAYBACK_NAME}' modifier.",
                obj.name,
            )


class Reading:
    """One capture: its frames, the shot so far, and the values of the frame before."""

    def __init__(self, start, quick, metre, view):
        self.start, self.quick, self.metre, self.view = start, quick, metre, view
        self.shot = None
        self.kept = {}  # values of the frame before, and what was derived from them
        self.evaluated = None  # objects with new geometry in this frame; None: unknown

    def derived(self, key, read, make):
        """Result of make(), computed again only if its inputs changed."""
        known = self.kept.get(key)
        if known is None or known[0] != read:
            known = self.kept[key] = read, make()
        return known[1]

    def same(self, key, value):
        """The value, as the object of the frame before if equal."""
        return self.derived(key, value, lambda: value)

    def warn(self, sentence):
        if sentence not in self.shot.warnings:
            self.shot.warnings.append(sentence)


def check_positions(obj, local, matrix):
    if not np.isfinite(local).all():
        bad = int((~np.isfinite(local)).any(axis=1).sum())
        raise CaptureError(f"'{obj.name}' has {bad} vertices that are no numbers (NaN).", obj.name)
    reach = np.abs(local).max() * np.abs(matrix[:3, :3]).max() + np.abs(matrix[:3, 3]).max()
    if reach > FARTHEST:
        raise CaptureError(
            f"'{obj.name}' reaches too far from the world's centre: more than {FARTHEST:,.0f} m.", obj.name
        )
