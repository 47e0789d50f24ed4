# SPDX-License-Identifier: GPL-3.0-or-later
"""Update callbacks of settings."""

from ...preview import session


def settings_changed(self, context):
    """The preview depends on the settings: it is built again."""
    session.touch(self, context)


def preview_redrawn(self, context):
    """A change of drawing only: the clusters stay."""
    for window in context.window_manager.windows if context.window_manager else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
