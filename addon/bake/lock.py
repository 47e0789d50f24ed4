# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer for a cache folder, whichever program, user or machine it is.

    bake.lock       who is writing: machine, process, since when; touched every few seconds
    bake.lock.tmp   who is about to: made exclusively, so there is one at a time

Whoever wants the folder makes bake.lock.tmp, looks at bake.lock, and if that is not there or its
owner is gone, renames the one to the other: nobody sees a lock without its owner's name, and of
two who find the same lock left behind only one gets it. That needs nothing of a file system but
exclusive creation and renaming, which there are everywhere; locks of the operating system would be
released by themselves, but are others on each system and may not reach over a network.

An owner is gone if its process is (on this machine), or if it has not touched its lock for
ABANDONED seconds (on any: a farm's machine that lost power must not stop the others for ever). An
owner who was only asleep finds that the lock is no longer its own, and stops.
"""
import contextlib
import datetime
import json
import os
import secrets
import socket
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path

from .errors import BakeError, file_error

NAME = "bake.lock"
BEAT = 10.0  # seconds between touches
ABANDONED = 120.0  # seconds without one after which an owner is taken for gone
PATIENCE = 2.0  # seconds to wait for another who is just looking
_MOST_BYTES = 4096
_own = set()  # tokens of this process's locks: another's process may have had its number


class LockedError(BakeError):
    """A sentence on who is writing to a cache folder."""


@dataclass
class Owner:
    host: str
    pid: int
    since: str
    token: str  # tells this owner from all others

    @classmethod
    def me(cls):
        now = datetime.datetime.now().astimezone().isoformat(" ", "seconds")
        return cls(socket.gethostname(), os.getpid(), now, secrets.token_hex(16))

    @classmethod
    def read(cls, path):
        """Who is in a file; None where that cannot be told. The file may come from a stranger."""
        try:
            with open(path, "rb") as file:
                data = json.loads(file.read(_MOST_BYTES))
            found = cls(**{name: data[name] for name in ("host", "pid", "since", "token")})
        except FileNotFoundError:
            raise
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        good = type(found.pid) is int and 0 < found.pid < 2**32 and all(
            isinstance(text, str) and len(text) < 256 and text.isprintable()
            for text in (found.host, found.since, found.token))
        return found if good else None

    @property
    def is_dead(self):
        """Known to be: nothing is known of processes on other machines."""
        if self.host != socket.gethostname():
            return False
        return self.token not in _own if self.pid == os.getpid() else not is_alive(self.pid)

    def who(self):
        if self.token in _own:
            return "this very program"
        where = "this machine" if self.host == socket.gethostname() else self.host
        return f"process {self.pid} on {where}, since {self.since}"


def is_alive(pid):
    """Whether a process of this machine is there."""
    if os.name == "nt":
        import ctypes
        return _is_alive_on_windows(pid, ctypes.WinDLL("kernel32", use_last_error=True),
                                    ctypes.get_last_error)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # somebody else's
    return True


def _is_alive_on_windows(pid, kernel, last_error):
    """os.kill() would end it there."""
    import ctypes
    query, still_active, no_such_process = 0x1000, 259, 87
    kernel.OpenProcess.restype = ctypes.c_void_p
    process = kernel.OpenProcess(query, False, pid)
    if not process:
        return last_error() != no_such_process
    try:
        code = ctypes.c_ulong()
        known = kernel.GetExitCodeProcess(ctypes.c_void_p(process), ctypes.byref(code))
        return not known or code.value == still_active
    finally:
        kernel.CloseHandle(ctypes.c_void_p(process))


def refuse(folder):
    """A LockedError if somebody is writing to a folder now."""
    path = Path(folder) / NAME
    with contextlib.suppress(OSError):
        _look(path, time.time())


def _look(path, now):
    try:
        owner = Owner.read(path)
        silence = now - os.lstat(path).st_mtime
    except FileNotFoundError:
        return
    if not _is_gone(owner, silence):
        raise LockedError(_sentence(path, owner))


def _is_gone(owner, silence):
    """silence: seconds since the last touch."""
    return abs(silence) > ABANDONED or owner is not None and owner.is_dead


def _sentence(path, owner):
    who = owner.who() if owner is not None else "another program"
    return (f"{path.parent} is being written to by {who}: wait until that is done, or stop it. "
            f"({NAME} there counts for nothing {ABANDONED / 60:.0f} minutes after its last sign of "
            f"life.)")


class Lock:
    """A cache folder's only writer, from making this until release(), or until nobody has it any
    more. The folder must be there. A LockedError names who else is writing."""

    def __init__(self, folder):
        self.path = Path(folder) / NAME
        self.owner = Owner.me()
        self.lost = False  # somebody else has it now
        try:
            self._take()
        except OSError as error:
            raise file_error(error, "write to the cache folder", folder) from error
        _own.add(self.owner.token)
        self._release = weakref.finalize(self, _remove, self.path, self.owner.token)

    def _take(self):
        waiting = self.path.with_name(NAME + ".tmp")
        file = self._opened(waiting)
        try:
            with file:
                json.dump(vars(self.owner), file)
            # a time that the disk has just given: it may be another machine's, with its own clock
            _look(self.path, os.stat(waiting).st_mtime)
            _retried(os.replace, waiting, self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(waiting)
            raise

    def _opened(self, waiting):
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return open(waiting, "x", encoding="utf-8")  # never through a link
            except FileExistsError:
                _remove_old(waiting)
                if time.monotonic() > until:
                    raise LockedError(_sentence(self.path, None)) from None
                time.sleep(.02)

    def release(self):
        """A second time does nothing."""
        self._release()

    @contextlib.contextmanager
    def kept(self):
        """Touches the lock now and then, so that nobody takes it for left behind; sets `lost` if
        somebody has it nevertheless. Releases it in the end."""
        ended = threading.Event()
        thread = threading.Thread(target=self._beat, args=(ended,), name="Pliant lock", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            ended.set()
            thread.join()
            self.release()

    def _beat(self, ended):
        while not ended.wait(BEAT):
            try:
                owner = Owner.read(self.path)
                if owner is not None and owner.token == self.owner.token:
                    os.utime(self.path)
                elif owner is not None:
                    self.lost = True
            except FileNotFoundError:
                self.lost = True
            except OSError:
                pass  # the disk is away: perhaps not for long
            if self.lost:
                return

    def check(self):
        """A LockedError if somebody else has it now."""
        if self.lost:
            raise LockedError(f"{self.path} is not this bake's any more: another one has begun in "
                              f"that folder, so this one was stopped. Its frames are kept.")


@contextlib.contextmanager
def held(folder):
    """The folder's only writer for a block, too short for others to get impatient."""
    lock = Lock(folder)
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def held_if_there_is_room(folder):
    """The same for what makes room: a full disk does not stop it, another writer does."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held(folder))
        except LockedError:
            raise
        except BakeError:
            refuse(folder)
        yield


def _retried(function, *arguments):
    """On Windows a file that somebody is just reading can be neither replaced nor removed."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return function(*arguments)
        except PermissionError:
            if os.name != "nt" or time.monotonic() > until:
                raise
            time.sleep(.02)


def _remove(path, token):
    """Removes a lock that is still its owner's."""
    _own.discard(token)
    with contextlib.suppress(OSError):
        owner = Owner.read(path)
        if owner is not None and owner.token == token:
            _retried(os.remove, path)


def _remove_old(waiting):
    """Removes what is left of one who was killed while it was looking, which takes no time."""
    with contextlib.suppress(OSError):
        if abs(time.time() - os.lstat(waiting).st_mtime) > ABANDONED:
            os.remove(waiting)
