# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of files of a bake, as sentences for the user."""

import errno
import unicodedata


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


def one_line(text):
    """A text without control characters: a line break in a name must not start a new line of
    output."""
    return "".join(c.encode("unicode_escape").decode() if _is_control(c) else c for c in str(text))


def _is_control(c):
    """Control characters, line and paragraph separators, surrogates, and bidirectional controls;
    not spaces of other scripts, which paths may have."""
    return unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(c) in (
        "LRE",
        "RLE",
        "LRO",
        "RLO",
        "PDF",
        "LRI",
        "RLI",
        "FSI",
        "PDI",
    )
