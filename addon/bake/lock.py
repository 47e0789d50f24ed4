# SPDX-License-Identifier: GPL-3.0-or-later
"""Exclusive access to a cache folder, across programs, users and machines.

    bake.lock       the owner: machine, process, since when; touched every few seconds
    bake.lock.tmp   the candidate: at most one at a time

To acquire the lock a process creates bake.lock.tmp, reads bake.lock, and if that is missing or its
owner is gone, renames the one to the other. So a lock always has its owner's name in it, and of two
processes that find the same stale lock only one gets it.

Two mechanisms tell whether an owner is gone:

    flock               An owner holds an advisory lock on its file, where the file system supports
                        it (advisory_lock.py). While it is held nobody takes the folder, however
                        long the owner is silent: it may be stopped or swapped out. Once released,
                        an owner on this machine is gone, whatever its pid namespace.
    lease               Everywhere else: on other machines, and without flock. An owner whose
                        process (pid, namespace, start time) is found on this machine is alive; one
                        whose process is not there is gone. All others are gone if they have not
                        touched their lock for ABANDONED seconds.

A process that was suspended must not write into another's bake. The file has a token of its owner
and a generation that increases with each owner. check() compares the whole file with what the owner
wrote; it is called before each commit of a frame, before each row of a point cache and before any
other file of a bake is renamed into place (manifest.py).
"""

import contextlib
import datetime
import errno
import functools
import json
import os
import secrets
import socket
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path

from . import advisory_lock
from .errors import BakeError, file_error

NAME = "bake.lock"
BEAT = 10.0  # seconds between touches
ABANDONED = 120.0  # seconds without a touch after which an owner counts as gone
PATIENCE = 2.0  # seconds to wait for another process that holds bake.lock.tmp
_MOST_BYTES = 4096
_own = set()  # tokens of this process's locks: a pid can be reused
_held = weakref.WeakValueDictionary()  # folder -> this process's Lock
_thread = threading.local()  # .writing: folders that the thread writes to, see writing()


class LockedError(BakeError):
    """A sentence that names who is writing to a cache folder."""


@dataclass
class Owner:
    host: str
    pid: int
    since: str
    token: str  # unique to this owner
    boot: str = ""  # boot id of the machine; empty: unknown
    namespace: str = ""  # pid namespace
    started: str = ""  # start time of the process, as the system counts it
    generation: int = 0  # increases with each owner
    flock: bool = False  # held on the file

    @classmethod
    def me(cls):
        now = datetime.datetime.now().astimezone().isoformat(" ", "seconds")
        return cls(
            socket.gethostname(),
            os.getpid(),
            now,
            secrets.token_hex(16),
            boot_id(),
            pid_namespace(),
            start_time(os.getpid()),
        )

    @classmethod
    def read(cls, path):
        """The owner in a file; None if it cannot be read. The file is untrusted."""
        try:
            data = json.loads(_contents(path))
            found = cls(
                *(data[name] for name in ("host", "pid", "since", "token")),
                *(data.get(name, "") for name in ("boot", "namespace", "started")),
                data.get("generation", 0),
                data.get("flock", False) is True,
            )
        except FileNotFoundError:
            raise
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        good = (
            type(found.pid) is int
            and 0 < found.pid < 2**32
            and type(found.generation) is int
            and 0 <= found.generation < 2**62
            and all(
                isinstance(text, str) and len(text) < 256 and text.isprintable()
                for text in (found.host, found.since, found.token, found.boot, found.namespace, found.started)
            )
        )
        return found if good else None

    @property
    def is_here(self):
        """Same machine: containers have host names of their own, but share the system's boot id."""
        if self.boot and boot_id():
            return self.boot == boot_id()
        return self.host == socket.gethostname()

    @property
    def is_running(self):
        """Whether the owner's process is alive: None if unknown, as for processes on other machines
        or in other namespaces, or if the pid may have been reused."""
        if not self.is_here or self.namespace != pid_namespace():
            return None
        if self.pid == os.getpid():
            return self.token in _own
        if not is_alive(self.pid):
            return False
        started = start_time(self.pid)
        return self.started == started if self.started and started else None

    def who(self):
        if self.token in _own:
            return "this very program"
        where = f"on {self.host}"
        if self.is_here:
            same = self.namespace in ("", pid_namespace())
            where = "on this machine" if same else f"in a container ({self.host}) on this machine"
        return f"process {self.pid} {where}, since {self.since}"


@functools.cache
def boot_id():
    """Boot id of the running system, the same in all of its containers; empty if there is none."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


@functools.cache
def pid_namespace():
    with contextlib.suppress(OSError, AttributeError):
        return os.readlink("/proc/self/ns/pid")
    return ""


def start_time(pid):
    """Start time of a process, in ticks since boot; empty: unknown."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    return ""


def _contents(path):
    with open(advisory_lock.open_file(path), "rb") as file:
        return file.read(_MOST_BYTES)


def is_alive(pid):
    """Whether a process of this machine is alive."""
    if os.name == "nt":
        import ctypes

        return _is_alive_on_windows(pid, ctypes.WinDLL("kernel32", use_last_error=True), ctypes.get_last_error)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # it belongs to another user
    return True


def _is_alive_on_windows(pid, kernel, last_error):
    """On Windows os.kill() would end the process."""
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
    """Raises a LockedError if a folder is being written to."""
    path = Path(folder) / NAME
    with contextlib.suppress(OSError):
        _look(path, time.time())


def _look(path, now):
    """The previous owner, or None; a LockedError if it is alive."""
    try:
        owner = Owner.read(path)
        silence = now - os.lstat(path).st_mtime
        locked = None
        with contextlib.suppress(OSError):
            locked = advisory_lock.is_locked(path)
    except FileNotFoundError:
        return None
    if locked or not _is_gone(owner, silence, locked):
        raise LockedError(_sentence(path, owner, locked))
    return owner


def _is_gone(owner, silence, locked=None):
    """silence: seconds since the last touch; locked: false if flock was released."""
    if owner is None:
        return abs(silence) > ABANDONED
    if locked is False and owner.flock and owner.is_here and owner.token not in _own:
        return True
    running = owner.is_running
    return abs(silence) > ABANDONED if running is None else not running


def _sentence(path, owner, locked=False):
    who = owner.who() if owner is not None else "another program"
    lease = f" ({NAME} there expires {ABANDONED / 60:.0f} minutes after its last update.)"
    if locked or (owner is not None and owner.is_running):
        lease = ""
    return f"{path.parent} is being written to by {who}: wait until that is done, or stop it.{lease}"


class Lock:
    """Exclusive write access to a cache folder, from the constructor until release(), or until the
    last reference is gone. The folder must exist. A LockedError names another owner."""

    def __init__(self, folder):
        self.path = Path(folder) / NAME
        self.owner = Owner.me()
        self.lost = False  # another owner has taken over
        self._contents = b""  # of the file, while it belongs to this owner
        try:
            fd = self._take()
        except OSError as error:
            raise file_error(error, "write to the cache folder", folder) from error
        _own.add(self.owner.token)
        _held[_key(folder)] = self
        self._release = weakref.finalize(self, _remove, self.path, self.owner.token, fd)

    def _take(self):
        """A descriptor that holds flock, if supported."""
        waiting = self.path.with_name(NAME + ".tmp")
        fd = self._opened(waiting)
        try:
            self._write_owner(fd)  # if this process is killed from here on, others notice at once
            # a time of the disk's own clock: it may be another machine's
            os.utime(waiting)
            before = _look(self.path, os.stat(waiting).st_mtime)
            self.owner.generation = before.generation + 1 if before is not None else 1
            self._write_owner(fd)
            if not self.owner.flock:  # an open file cannot be renamed on Windows
                os.close(fd)
                fd = None
            _retried(os.replace, waiting, self.path)
            if _contents(self.path) != self._contents:
                raise LockedError(_sentence(self.path, None))
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(waiting)
            if fd is not None:
                os.close(fd)
            raise
        return fd

    def _write_owner(self, fd):
        self._contents = json.dumps(vars(self.owner)).encode()
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        if os.write(fd, self._contents) != len(self._contents):
            raise OSError(errno.ENOSPC, "No space left on device")

    def _opened(self, waiting):
        """Creates bake.lock.tmp, which only one process can do. A stale one is taken over at once
        if flock tells so, otherwise by its age."""
        until = time.monotonic() + PATIENCE
        while True:
            fd = self._try_to_open(waiting)
            if fd is not None:
                return fd
            if time.monotonic() > until:
                raise LockedError(_sentence(self.path, None))
            time.sleep(0.02)

    def _try_to_open(self, waiting):
        try:
            fd, is_new = advisory_lock.open_file(waiting, os.O_RDWR | os.O_CREAT | os.O_EXCL), True
        except FileExistsError:
            if not advisory_lock.enabled or _is_old(waiting):
                _remove_old(waiting)
                return None
            try:
                fd, is_new = advisory_lock.open_file(waiting, os.O_RDWR), False
            except OSError:  # a link, or removed meanwhile
                return None
        granted = None
        try:
            granted = advisory_lock.lock(fd, waiting)
            same = granted and os.path.samestat(os.fstat(fd), os.lstat(waiting))
        except OSError:  # another process had it meanwhile, and removed it
            same = granted = False
        self.owner.flock = bool(granted)
        if same or granted is None and is_new:
            return fd
        os.close(fd)
        if granted is None:
            _remove_old(waiting)  # without flock
        return None

    def release(self):
        """Does nothing the second time."""
        self._release()

    @contextlib.contextmanager
    def kept(self):
        """Touches the lock periodically, so that it does not count as stale; sets `lost` if another
        owner has it nevertheless. Releases it at the end."""
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
                self._compare()
                if not self.lost:
                    os.utime(self.path)
            except OSError:
                pass  # the disk is unreachable, perhaps only for a while
            if self.lost:
                return

    def _compare(self):
        try:
            self.lost = self.lost or _contents(self.path) != self._contents
        except FileNotFoundError:
            self.lost = True

    def check(self):
        """Raises a LockedError if another owner has the lock: reads the file, so that a process
        that was suspended notices before it writes."""
        self._compare()
        if self.lost:
            raise LockedError(
                f"{self.path} is not this bake's any more: another one has begun in "
                f"that folder, so this one was stopped. Its frames are kept."
            )


def check(folder):
    """Lock.check() of this process's lock on a folder; does nothing without one."""
    lock = _held.get(_key(folder))
    if lock is not None:
        lock.check()


def _key(folder):
    return os.path.realpath(folder)


@contextlib.contextmanager
def writing(folder):
    """Exclusive write access to a folder for a block. Nested in the same thread on the same folder
    it does nothing."""
    inside = _thread.__dict__.setdefault("writing", set())
    key = _key(folder)
    if key in inside:
        yield
        return
    with Lock(folder).kept():
        inside.add(key)
        try:
            yield
        finally:
            inside.discard(key)


@contextlib.contextmanager
def writing_if_there_is_room(folder):
    """The same for deleting: a full disk does not prevent it, another writer does."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(writing(folder))
        except LockedError:
            raise
        except BakeError:
            refuse(folder)
        yield


def _retried(function, *arguments):
    """On Windows a file that is being read can be neither replaced nor removed."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return function(*arguments)
        except PermissionError:
            if os.name != "nt" or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _remove(path, token, fd):
    """Removes a lock that still belongs to its owner, and releases flock."""
    _own.discard(token)
    with contextlib.suppress(OSError):
        owner = Owner.read(path)
        if owner is not None and owner.token == token:
            _retried(os.remove, path)
    if fd is not None:
        with contextlib.suppress(OSError):
            os.close(fd)


def _is_old(waiting):
    with contextlib.suppress(OSError):
        return abs(time.time() - os.lstat(waiting).st_mtime) > ABANDONED
    return False


def _remove_old(waiting):
    """Removes what a process left that was killed while it held bake.lock.tmp."""
    with contextlib.suppress(OSError):
        owner = Owner.read(waiting)
        if _is_old(waiting) or owner is not None and owner.is_running is False:
            os.remove(waiting)
