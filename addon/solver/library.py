# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds and loads the native library.

Searched in this order:
  1. the file that the environment variable PLIANT_LIBRARY names (then nowhere else),
  2. beside this package,
  3. the installed module pliant_native (the wheel of the extension),
  4. the build folders of a checkout (build-release, build: the newer one).

The first file found is used. If it cannot be loaded, a LibraryError names the file and the reason;
no other file is tried.
"""

import contextlib
import ctypes
import importlib
import importlib.util
import os
import sys
import threading
from pathlib import Path

from . import _abi

ENVIRONMENT = "PLIANT_LIBRARY"
WHEEL_MODULE = "pliant_native"
FILE_NAME = {"win32": "pliant.dll", "darwin": "libpliant.dylib"}.get(sys.platform, "libpliant.so")

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]
_lock = threading.Lock()
_loaded = {}


class LibraryError(Exception):
    """The native library is missing or cannot be used. `missing`: functions that it lacks."""

    def __init__(self, sentence, missing=()):
        super().__init__(sentence)
        self.missing = tuple(missing)


def _wheel_folders():
    importlib.invalidate_caches()  # Blender may just have installed the wheel
    try:
        spec = importlib.util.find_spec(WHEEL_MODULE)
    except (ImportError, ValueError):
        return []
    return [Path(p) for p in (spec.submodule_search_locations or [])] if spec else []


def _in_checkout():
    return (_CHECKOUT / "native" / "include" / "pliant.h").is_file()


def candidates():
    """Paths that are searched, in order, whether they exist or not."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        return [Path(chosen)]
    places = [_PACKAGE / FILE_NAME]
    places += [folder / FILE_NAME for folder in _wheel_folders()]
    if _in_checkout():
        built = [_CHECKOUT / name / "native" / FILE_NAME for name in ("build-release", "build")]
        places += sorted(built, key=lambda p: p.stat().st_mtime if p.exists() else 0, reverse=True)
    return places


def find():
    """Path of the library to use; a LibraryError lists every path that was searched."""
    places = candidates()
    for path in places:
        if path.is_file():
            return path
    if os.environ.get(ENVIRONMENT):
        raise LibraryError(f"{ENVIRONMENT} names {places[0]}, which is not a file.")
    listed = "\n  ".join(map(str, places))
    remedy = (
        "Build it (cmake --preset release, cmake --build --preset release)"
        if _in_checkout()
        else "Install the extension again, from the zip for this system,"
    )
    raise LibraryError(f"The Pliant library is not installed. Looked for:\n  {listed}\n{remedy} or set {ENVIRONMENT}.")


@contextlib.contextmanager
def _one_blas_thread():
    """OpenBLAS reads this variable when it is loaded. Its own threads would only cost memory, 128
    MB and more each. A value set by the user is kept; child processes do not inherit the change."""
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ:
        yield
        return
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]


def _open(path):
    try:
        # CDLL, not PyDLL: calls release the GIL, so that Blender stays responsive.
        with _one_blas_thread():
            library = ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(f"{path} cannot be loaded: {error}") from error
    try:
        version = library.pliant_abi_version
    except AttributeError:
        raise LibraryError(
            f"{path} is not a Pliant library: it lacks pliant_abi_version().", ["pliant_abi_version"]
        ) from None
    version.restype, version.argtypes = _abi.FUNCTIONS["pliant_abi_version"]
    found = version()
    if found != _abi.ABI_VERSION:
        raise LibraryError(
            f"{path} has interface version {found}, this package needs "
            f"{_abi.ABI_VERSION}: they are from different versions of Pliant."
        )
    missing = _abi.bind(library)
    if missing:
        raise LibraryError(
            f"{path} lacks {len(missing)} functions that pliant.h declares: {', '.join(missing)}.", missing
        )
    library.pliant_path = str(path)
    return library


def load(path=None):
    """The loaded library with every function declared; loaded once for each path."""
    path = Path(path) if path else find()
    with _lock:
        if path not in _loaded:
            _loaded[path] = _open(path)
        return _loaded[path]
