# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are whole or not there."""
import contextlib
import os

from .errors import file_error


@contextlib.contextmanager
def replaced(path):
    """A name to write under; the file gets its own when the block has ended well. Until then the one
    that was there stays, and nothing is left behind of one that failed."""
    unfinished = f"{path}.tmp"
    try:
        if os.path.lexists(unfinished):  # a link in a stranger's cache is not written through
            os.remove(unfinished)
        yield unfinished
        os.replace(unfinished, path)
    except OSError as error:
        raise file_error(error, "write", path) from error
    finally:
        with contextlib.suppress(OSError):
            os.remove(unfinished)
