# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a scene cannot be baked, as sentences."""


class CaptureError(Exception):
    """A sentence on why a scene cannot be baked; `object`: the name of the object to blame."""

    def __init__(self, sentence, object=""):
        super().__init__(sentence)
        self.object = object


class PackageError(CaptureError):
    """The same on a package that the bake needs and that is not installed."""


def hidden(obj, layer):
    """True where Blender does not evaluate an object: hidden in viewports, by itself or through all
    of its collections, or left out of the view layer."""
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
