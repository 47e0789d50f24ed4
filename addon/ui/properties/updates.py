# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens when a setting is changed."""


def settings_changed(self, context):
    """Tells those who show something that follows from the settings (the preview)."""
    for listener in listeners:
        listener(self, context)


listeners = []


def preview_redrawn(self, context):
    """What is only drawn otherwise needs no new clusters."""
    for window in context.window_manager.windows if context.window_manager else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
