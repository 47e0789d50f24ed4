# SPDX-License-Identifier: GPL-3.0-or-later
"""Advisory locks of the operating system on open files (flock). The system releases them when their
process ends, in any way, but not while the process is stopped.

Some file systems have no locks, others grant every request. A lock therefore counts only if a
second descriptor is refused. On Windows they are not used: an open file cannot be renamed there.
"""

import errno
import os
import stat

try:
    import fcntl
except ImportError:
    fcntl = None

_BUSY = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
enabled = fcntl is not None  # tests switch it off to simulate a file system without locks


def open_file(path, flags=os.O_RDONLY):
    """A descriptor of a regular file; never follows a link and never blocks (as a FIFO would)."""
    fd = os.open(path, flags | _FLAGS, 0o666)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return fd


def _flock(fd, operation):
    """True: granted; False: held by another; None: locks are not supported."""
    if not enabled:
        return None
    try:
        fcntl.flock(fd, operation | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _BUSY else None
    return True


def lock(fd, path):
    """Locks a file exclusively. None: locks are not reliable here, nothing is locked."""
    granted = _flock(fd, fcntl.LOCK_EX if enabled else 0)
    if granted and not is_locked(path):
        fcntl.flock(fd, fcntl.LOCK_UN)
        return None
    return granted


def is_locked(path):
    """Whether a file is locked by anyone; None: unknown."""
    fd = open_file(path)
    try:
        granted = _flock(fd, fcntl.LOCK_SH if enabled else 0)
    finally:
        os.close(fd)  # this releases the shared lock
    return None if granted is None else not granted
