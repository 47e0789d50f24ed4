# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies a bake to another folder; the bake that is there is replaced when the copy is whole.

    1. target/bake.incoming/   every file of the source, each read back and compared
    2. target/                 no file that is not of a bake has one of their names
    3. target/                 the former bake is deleted
    4. target/                 files get their place, bake.json last

The source is only read. Whatever fails in 1 or 2 leaves the target as it was. A kill in 3 or 4 leaves
the source whole and no bake in the target.
"""
import hashlib
import os
import shutil
from pathlib import Path

from . import files, lock, manifest
from .errors import BakeError, file_error

_LINKED = (".plf", ".plc", ".pll")  # never written again in place: both folders may have one file
_BLOCK = 1 << 20


def copy(source, target):
    """Copies a bake. Two spellings of one folder: nothing is done. Returns whether it was copied.

    The journal comes first, for a job may be writing: frames that it does not name yet are no harm.
    """
    source, target = Path(source), Path(target)
    if files.same(source, target):
        return False
    if files.is_link(target / manifest.STORE_NAME):
        raise BakeError(f"{target / manifest.STORE_NAME} is a link, which a cache never has: nothing is "
                        f"copied there.")
    manifest.check_free(target)
    target.mkdir(parents=True, exist_ok=True)
    with lock.held(target):
        incoming = target / manifest.INCOMING
        manifest.remove_incoming(target)
        try:
            names = _copy_all(source, incoming)
            _switch(incoming, target, names)
        except OSError as error:
            raise file_error(error, "copy the cache to", target) from error
        finally:
            manifest.remove_incoming(target)
    return True


def _copy_all(source, incoming):
    """Names of the files, relative to the folder, in the order in which they were copied."""
    order = {"journal.plj": 0, manifest.INFO_NAME: 2}
    names = []
    (incoming / manifest.STORE_NAME).mkdir(parents=True)
    for path in sorted(manifest.paths(source), key=lambda p: order.get(p.name, 1)):
        if path.is_symlink() or path.suffix == manifest.TEMPORARY:
            continue
        name = path.relative_to(source)
        try:
            _copy_file(path, incoming / name)
        except FileNotFoundError:
            if path.exists():
                raise
            continue  # a running bake has replaced it: the journal does not name it
        names.append(name)
    if Path(manifest.INFO_NAME) not in names:
        raise BakeError(f"Nothing is baked in {source}.")
    return names


def _copy_file(path, place):
    if path.suffix in _LINKED:
        try:
            os.link(path, place, follow_symlinks=False)
            return
        except (OSError, NotImplementedError):
            pass  # another disk, or one that has no links
    read = hashlib.blake2b()
    with files.open_regular(path) as source, files.create(place) as file:
        while block := source.read(_BLOCK):
            read.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    shutil.copystat(path, place, follow_symlinks=False)
    if _digest(place) != read.digest():
        raise BakeError(f"{place} is not what was written to it: the disk may be faulty. The cache stays "
                        f"where it was.")


def _digest(path):
    digest = hashlib.blake2b()
    with files.open_regular(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.digest()


def _switch(incoming, target, names):
    listed = {manifest.STORE_MARK if name.parent.name else name.name for name in names}
    listed = sorted(listed | {manifest.INFO_NAME, manifest.STORE_MARK})
    manifest.check_names(target, listed)
    manifest.remove_files(target)
    manifest.start(target, listed)
    (target / manifest.STORE_NAME).mkdir(exist_ok=True)
    for name in names:  # bake.json is the last
        os.replace(incoming / name, target / name)
