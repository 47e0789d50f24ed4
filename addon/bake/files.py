# SPDX-License-Identifier: GPL-3.0-or-later
"""Files in a folder that a stranger may have filled: never through a link, never a pipe or a device,
whole or not there.

A pipe without a writer blocks whoever opens it, also past SIGTERM; a symbolic link leads a write to
any file that the user may write to. So a file is opened here, or not at all.
"""

import contextlib
import errno
import os
import stat

from .errors import file_error

_REPARSE_POINT = 0x400  # Windows: a symbolic link, a junction or another redirection


class NotRegular(OSError):
    """A link, pipe or device where a cache has a file."""

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
    """Opens a regular file for reading ("rb"), changing ("r+b") or appending ("ab"). It must be there.
    A link, pipe or device is an OSError, at once."""
    if is_link(path):  # O_NOFOLLOW, where there is none
        raise NotRegular(path, "a symbolic link")
    flags = {"rb": os.O_RDONLY, "r+b": os.O_RDWR, "ab": os.O_WRONLY | os.O_APPEND}[mode]
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
        flags |= getattr(os, name, 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotRegular(path, "a symbolic link") from None
        if error.errno == errno.ENXIO:  # a pipe that nobody reads, opened for writing
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
    """Removes a file, or a link and not what it leads to; nothing is there: nothing happens. Pipes,
    devices and folders are not ours."""
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
        raise NotRegular(path, "a folder" if stat.S_ISDIR(kind) else "a pipe or a device")
    os.unlink(path)


def create(path, buffering=-1):
    """A new file to write bytes to; one of that name, or a link, is removed first."""
    remove(path)
    return open(path, "xb", buffering)


@contextlib.contextmanager
def replaced(path):
    """A name to write under; the file gets its own when the block has ended well and all of it is on
    the disk. Until then the one that was there stays, and nothing is left behind of one that failed."""
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
    """Waits until a file is on the disk, whoever wrote it."""
    with open_regular(path, "r+b") as file:  # Windows: not one that is open for reading
        os.fsync(file.fileno())


def same(one, other):
    """Whether two paths lead to one folder or file, however they are spelled: through a link, a mount or
    in another case. What is not there is the same as nothing."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
