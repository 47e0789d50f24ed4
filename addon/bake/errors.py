# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong with files of a bake, as sentences for the artist."""
import errno


class BakeError(Exception):
    """Its text is a sentence that can be shown as it is."""


_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "the folder may not be written to, or the file not be read",
    errno.EPERM: "it is not allowed",
    errno.ENOENT: "it does not exist",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.EISDIR: "it is a folder",
    errno.EFBIG: "the disk's format does not take files of that size",
    errno.EIO: "the disk reports an error",
}


def file_error(error, doing, path):
    """A BakeError for an OSError: file_error(error, "write", path)."""
    reason = _REASONS.get(error.errno) or (error.strerror or str(error)).lower()
    return BakeError(f"Cannot {doing} {path}: {reason}.")
