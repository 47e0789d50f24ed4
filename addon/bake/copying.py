# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies a bake to another folder; the bake that is there is replaced when the copy is whole.

    1. target/bake.incoming/   a bake of its own: every file of the source, each read back and compared
    2. target/                 no file that is not of a bake has one of their names
    3. target/                 the former bake is deleted
    4. target/                 files get their place, bake.json last

The source is only read. Whatever fails in 1 or 2 leaves the target as it was. A kill in 3 or 4 leaves
the source whole and no bake in the target.
"""

import contextlib
import hashlib
import os
import shutil
from pathlib import Path

from . import files, lock, manifest
from .errors import BakeError, file_error

_LINKED = (".plf", ".plc", ".pll")  # immutable once written: both folders may share one file (hard link)
_BLOCK = 1 << 20


def copy(source, target):
    """Copies a bake; does nothing if both paths are one folder. Returns whether it was copied."""
    if files.same(source, target):
        return False
    with Copy(source, target) as made:
        made.switch()
    return True


class Copy:
    """A complete copy of a bake inside the locked target folder. switch() puts it in the place of
    the target's bake; close() without switch() leaves the target as it was."""

    def __init__(self, source, target):
        self.source, self.target = Path(source), Path(target)
        for name in (manifest.STORE_NAME, manifest.INCOMING):
            if files.is_link(self.target / name):
                raise BakeError(f"{self.target / name} is a link, which a cache never has: nothing is copied there.")
        manifest.check_free(self.target)
        self._incoming = self.target / manifest.INCOMING
        with contextlib.ExitStack() as stack, self._told():
            self.target.mkdir(parents=True, exist_ok=True)
            stack.enter_context(lock.Lock(self.target).kept())
            remove_incoming(self.target)
            stack.callback(remove_incoming, self.target)
            self._names = _copy_all(self.source, self._incoming)
            self._listed = sorted(
                {manifest.STORE_MARK if name.parent.name else name.name for name in self._names}
                | {manifest.INFO_NAME, manifest.STORE_MARK}
            )
            manifest.check_names(self.target, self._listed)
            self._open = stack.pop_all()

    @contextlib.contextmanager
    def _told(self):
        try:
            yield
        except OSError as error:
            raise file_error(error, "copy the cache to", self.target) from error

    def switch(self):
        with self._told():
            lock.check(self.target)
            manifest.remove_files(self.target)
            manifest.start(self.target, self._listed)
            (self.target / manifest.STORE_NAME).mkdir(exist_ok=True)
            for name in self._names:  # bake.json is the last
                os.replace(self._incoming / name, self.target / name)

    def close(self):
        with self._told():
            self._open.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def remove_incoming(folder):
    """Deletes the remains of a copy that was killed."""
    incoming = Path(folder) / manifest.INCOMING
    if incoming.is_dir() and not files.is_link(incoming):
        manifest.remove_all(incoming)


def _copy_all(source, incoming):
    """File names, relative to the folder, in the order in which they were copied.

    The journal comes first, since a job may be writing: frames that it does not list yet do no
    harm.
    """
    order = {"journal.plj": 0, manifest.INFO_NAME: 2}
    todo = [
        path
        for path in sorted(manifest.paths(source), key=lambda p: order.get(p.name, 1))
        if not path.is_symlink() and path.suffix != manifest.TEMPORARY
    ]
    if source / manifest.INFO_NAME not in todo:
        raise BakeError(f"Nothing is baked in {source}.")
    incoming.mkdir()
    manifest.start(incoming, [manifest.STORE_MARK, *(p.name for p in todo if p.parent == source)])
    (incoming / manifest.STORE_NAME).mkdir()
    names = []
    for path in todo:
        name = path.relative_to(source)
        try:
            _copy_file(path, incoming / name)
        except FileNotFoundError:
            if path.exists():
                raise
            continue  # replaced by a running bake: the journal does not list it
        names.append(name)
    return names


def _copy_file(path, place):
    if path.suffix in _LINKED:
        try:
            os.link(path, place, follow_symlinks=False)
            return
        except (OSError, NotImplementedError):
            pass  # another disk, or a file system without hard links
    read = hashlib.blake2b()
    with files.open_regular(path) as source, files.create(place) as file:
        while block := source.read(_BLOCK):
            read.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    shutil.copystat(path, place, follow_symlinks=False)
    if _digest(place) != read.digest():
        raise BakeError(f"{place} is not what was written to it: the disk may be faulty. The cache stays where it was.")


def _digest(path):
    digest = hashlib.blake2b()
    with files.open_regular(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.digest()
