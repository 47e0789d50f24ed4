# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands the checkout's add-on in a Blender as the extension it is for a user.

The add-on's folder is linked into the extensions of a Blender whose user files are in a temporary
folder, so that imports, preferences and file paths are those of an installed extension, and nothing of
the user's own Blender is read or written. run.py prepares this before a test file is imported; a test
then says

    import support
    pliant = support.addon()                  # the package, enabled
    bake = support.addon("bake.job")          # a module in it
"""

import importlib
import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "bl_ext.user_default.pliant"


def prepare():
    """Links the add-on into a temporary user folder; before bpy is imported, which reads it."""
    user = tempfile.mkdtemp(prefix="pliant-blender-")
    os.environ["BLENDER_USER_RESOURCES"] = user
    extensions = Path(user, "extensions", "user_default")
    extensions.mkdir(parents=True)
    (extensions / "pliant").symlink_to(ROOT / "addon", target_is_directory=True)
    return user


def enable():
    """Enables the add-on as the checkbox in the preferences does; its exceptions are raised."""
    import addon_utils

    def complain(error):
        raise error

    sys.dont_write_bytecode = True  # the folder is the checkout's own
    if addon_utils.enable(PACKAGE, default_set=True, handle_error=complain) is None:
        raise RuntimeError(f"{PACKAGE} could not be enabled; the lines above say why")


def disable():
    """Disables it, so that a test can see what is left behind."""
    import addon_utils

    addon_utils.disable(PACKAGE, default_set=True)


def addon(module=""):
    """The add-on's package, or a module in it."""
    return importlib.import_module(PACKAGE + ("." + module if module else ""))


def oldest_and_newest(test):
    """@support.oldest_and_newest: for slow tests of what is little of Blender's own. The Blenders between
    the oldest and the newest that tests/run knows leave them out."""
    import bpy

    between = bpy.app.version[:2] in ((4, 5), (5, 0))
    return unittest.skipIf(between, "only in the oldest and the newest Blender")(test)


def fresh():
    """An empty file with one scene; preferences and the add-on stay."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False)
    return bpy.context.scene
