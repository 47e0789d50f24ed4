# SPDX-License-Identifier: GPL-3.0-or-later
"""Library statuses as exceptions; Python exceptions carried through C callbacks."""

from . import _abi
from ._abi import Status


class PliantError(Exception):
    """A call failed. `status` is a Status; the text is the library's error sentence."""

    def __init__(self, status, sentence=""):
        self.status = status
        super().__init__(sentence or _abi.STATUS_TEXT.get(status, f"status {int(status)}"))


class Cancelled(PliantError):
    """Cancelled by a progress function or by Scene.cancel()."""


def check(library, status):
    """Raises unless a status is OK. Must follow the call on the same thread."""
    if status == Status.OK:
        return
    sentence = (library.pliant_last_error() or b"").decode("utf-8", "replace")
    try:
        status = Status(status)
    except ValueError:
        raise PliantError(Status.ERROR_INTERNAL, f"unknown status {status}: {sentence}") from None
    raise (Cancelled if status == Status.CANCELLED else PliantError)(status, sentence)


class Progress:
    """A Python function as the library's progress callback.

    `function(fraction, stage)` returns true to cancel. An exception in it cannot pass through C: it
    is stored, the call is cancelled, and finish() raises it.
    """

    def __init__(self, function):
        self._function = function
        self._error = None
        self.callback = _abi.ProgressFn(self._call) if function else _abi.ProgressFn(0)

    def _call(self, _user, fraction, stage):
        try:
            return 1 if self._function(fraction, (stage or b"").decode("utf-8", "replace")) else 0
        except BaseException as error:  # also KeyboardInterrupt; raised again below
            self._error = error
            return 1

    def finish(self, library, status):
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        check(library, status)
