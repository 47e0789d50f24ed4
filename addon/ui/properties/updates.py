# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens when a setting is changed."""

from ...preview import session


def settings_changed(self, context):
    """What the preview shows follows from the settings."""
    session.touch(self, context)


def preview_redrawn(self, context):
    """What is only drawn otherwise needs no new clusters."""
    for window in context.window_manager.windows if context.window_manager else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
