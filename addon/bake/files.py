# SPDX-License-Identifier: GPL-3.0-or-later
"""File access in folders with untrusted contents: never follows a link, never opens a pipe or
device, and writes atomically.

Opening a pipe without a writer blocks, even past SIGTERM; a symbolic link redirects a write to any
file of the user. All files of a bake are opened through this module.
"""

import contextlib
import errno
import os
import stat

from .errors import file_error

_REPARSE_POINT = 0x400  # Windows: a symbolic link, a junction or another redirection


class NotRegular(OSError):
    """A link, pipe or device in place of a cache file."""

    def __init__(self, path, what):
        super().__init__(errno.EINVAL, f"it is {what}, which a cache never has: remove it", str(path))


def is_link(path):
    """Whether a path itself is a symbolic link or (Windows) a junction."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_file_attributes", 0) & _REPARSE_POINT)


def open_regular(path, mode="rb", buffering=-1):
    """Opens an existing regular file for reading ("rb"), changing ("r+b") or appending ("ab"). A
    link, pipe or device raises an OSError at once."""
    if is_link(path):  # systems without O_NOFOLLOW
        raise NotRegular(path, "a symbolic link")
    flags = {"rb": os.O_RDONLY, "r+b": os.O_RDWR, "ab": os.O_WRONLY | os.O_APPEND}[mode]
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
        flags |= getattr(os, name, 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotRegular(path, "a symbolic link") from None
        if error.errno == errno.ENXIO:  # a pipe without a reader, opened for writing
            raise NotRegular(path, "no file") from None
        raise
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise NotRegular(path, "a pipe or a device")
        if hasattr(os, "set_blocking"):
            with contextlib.suppress(OSError):  # Windows: for pipes only
                os.set_blocking(descriptor, True)
        return open(descriptor, mode, buffering)
    except BaseException:
        os.close(descriptor)
        raise


def remove(path):
    """Removes a file, or a link but not its target; a missing file is not an error. Does not remove
    pipes, devices and folders."""
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
        raise NotRegular(path, "a folder" if stat.S_ISDIR(kind) else "a pipe or a device")
    os.unlink(path)


def create(path, buffering=-1):
    """A new file to write bytes to; an existing file or link of that name is removed first."""
    remove(path)
    return open(path, "xb", buffering)


@contextlib.contextmanager
def replaced(path):
    """A temporary name to write to; the file is renamed when the block ends without error and its
    data are on the disk. Until then an existing file stays; after an error nothing is left."""
    unfinished = f"{path}.tmp"
    try:
        remove(unfinished)
        yield unfinished
        sync(unfinished)
        os.replace(unfinished, path)
    except OSError as error:
        raise file_error(error, "write", path) from error
    finally:
        with contextlib.suppress(OSError):
            remove(unfinished)


def sync(path):
    """Waits until a file's data are on the disk (fsync)."""
    with open_regular(path, "r+b") as file:  # Windows cannot sync a file opened for reading
        os.fsync(file.fileno())


def same(one, other):
    """Whether two paths lead to the same folder or file, through links, mounts or another case.
    Missing files are the same as nothing."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
