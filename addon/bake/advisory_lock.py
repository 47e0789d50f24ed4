# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks of the operating system on open files (flock). The system releases them when their process
ends, however it ends, and not while the process is stopped.

Not every file system has them, and some grant every request. So a lock counts only if a second
descriptor is refused. There are none on Windows here: a file that is open there cannot be renamed.
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
enabled = fcntl is not None  # tests switch it off to see a file system without locks


def open_file(path, flags=os.O_RDONLY):
    """A descriptor of a regular file, never through a link and never waiting (as a FIFO would)."""
    fd = os.open(path, flags | _FLAGS, 0o666)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return fd


def _flock(fd, operation):
    """True: granted; False: somebody has it; None: there are no locks here."""
    if not enabled:
        return None
    try:
        fcntl.flock(fd, operation | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _BUSY else None
    return True


def lock(fd, path):
    """Locks a file for this process alone. None: nothing is locked, since no lock would hold."""
    granted = _flock(fd, fcntl.LOCK_EX if enabled else 0)
    if granted and not is_locked(path):
        fcntl.flock(fd, fcntl.LOCK_UN)
        return None
    return granted


def is_locked(path):
    """Whether somebody has locked a file; None: that cannot be told."""
    fd = open_file(path)
    try:
        granted = _flock(fd, fcntl.LOCK_SH if enabled else 0)
    finally:
        os.close(fd)  # which gives the shared lock back
    return None if granted is None else not granted
