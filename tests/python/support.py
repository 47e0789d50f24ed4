# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things are, for every test here. Importing it makes `solver`, `bindgen`, the examples'
`shapes` and, without its part that needs Blender, `addon` importable."""

import os
import shutil
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADDON = ROOT / "addon"
NATIVE = ROOT / "native"
HEADER = NATIVE / "include" / "pliant.h"
COMPILER = next((c for c in (os.environ.get("CC"), "cc", "gcc", "clang") if c and shutil.which(c)), None)

# addon/__init__.py needs Blender; solver/ does not, so it is imported as a package of its own.
for folder in (ADDON, NATIVE, ROOT / "examples", ROOT / "tests"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

# The same for what is in more than one of its packages: `addon.bake` imports `addon.solver`.
_package = types.ModuleType("addon")
_package.__path__ = [str(ADDON)]
sys.modules.setdefault("addon", _package)
