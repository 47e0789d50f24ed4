# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors that prevent a bake, as sentences."""


class CaptureError(Exception):
    """A sentence on why a scene cannot be baked; `object`: the name of the object that causes it."""

    def __init__(self, sentence, object=""):
        super().__init__(sentence)
        self.object = object


class PackageError(CaptureError):
    """The same for a package that the bake needs and that is not installed."""


def hidden(obj, layer):
    """True if Blender does not evaluate an object: hidden in viewports, by itself or through all of
    its collections, or excluded from the view layer."""
    if obj.hide_viewport or obj.name not in layer.objects:
        return True
    shown = [c for c in obj.users_collection if not c.hide_viewport]
    return not shown


def refuse_hidden(obj, layer, what):
    if hidden(obj, layer):
        raise CaptureError(
            f"The {what} '{obj.name}' is hidden in viewports, so that Blender does "
            f"not evaluate it: show it, or take its role away.",
            obj.name,
        )
