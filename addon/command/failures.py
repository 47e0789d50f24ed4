# SPDX-License-Identifier: GPL-3.0-or-later
"""Exit codes by kind of failure, so that a farm can decide whether to retry.

docs/command-line.md has the same table; a test compares them.
"""

from ..bake.cache import CacheError
from ..bake.errors import BakeError
from ..bake.lock import LockedError
from ..blender.capture.capture import CaptureError, PackageError
from ..solver import LibraryError, PliantError, Status

DONE, FAULT, USAGE, FILE, SCENE, INSTALLATION, BAKE, DISK, SIMULATION, MEMORY, EXPORT, LOCKED = range(12)
BY_SIGNAL = 128  # plus the signal's number: 130 for SIGINT, 143 for SIGTERM

_BY_STATUS = {
    Status.ERROR_ARGUMENT: SCENE,
    Status.ERROR_MESH: SCENE,
    Status.ERROR_CLUSTERING: SCENE,
    Status.ERROR_MEMORY: MEMORY,
    Status.ERROR_FILE: DISK,
    Status.ERROR_FORMAT: BAKE,
    Status.ERROR_UNSUPPORTED: INSTALLATION,
    Status.ERROR_UNSTABLE: SIMULATION,
}


class Failure(Exception):
    """A sentence with an exit code."""

    def __init__(self, code, sentence):
        super().__init__(sentence)
        self.code = code


class Interrupted(Exception):
    """Raised when a signal requested the end."""


def code_of(error):
    """The exit code for any exception."""
    if isinstance(error, Failure):
        return error.code
    if isinstance(error, PackageError):
        return INSTALLATION
    if isinstance(error, CaptureError):
        return SCENE
    if isinstance(error, LibraryError):
        return INSTALLATION
    if isinstance(error, PliantError):
        return _BY_STATUS.get(error.status, SIMULATION)
    if isinstance(error, MemoryError):
        return MEMORY
    if isinstance(error, OSError):
        return DISK
    if isinstance(error, LockedError):
        return LOCKED
    if isinstance(error, BakeError):
        cause = error.__cause__
        return (
            BAKE
            if cause is None or isinstance(cause, CacheError)
            else code_of(cause)
            if isinstance(cause, (OSError, PliantError, BakeError))
            else BAKE
        )
    return FAULT
