# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of files that a bake has made in a folder: nothing else is ever deleted or overwritten.

    bake.files      "Pliant bake 1", then a name a line; "frames/" is the frame store's folder

A name is on the list, and the list on the disk, before its file is made: however a bake ends, none
of its files is unlisted. The list is created complete (with the names that every bake has) and then
only appended to. It marks a folder as a cache and is deleted last. It is untrusted: a line counts
only if it is a name that a bake uses, and a file only if it begins as files of its kind do.

Bakes of earlier versions have no list: their files are those whose names come from the bodies in
bake.json. A folder with neither is not a cache.
"""

import contextlib
import json
import os
import re
import stat
import struct
from pathlib import Path

from . import files, lock
from .errors import BakeError, file_error

NAME = "bake.files"
HEAD = "Pliant bake 1"
INFO_NAME = "bake.json"
STORE_NAME = "frames"
STORE_MARK = STORE_NAME + "/"
STORE_FILES = re.compile(
    r"(header\.plh|journal\.plj|layout-\d+\.pll|frame--?\d+\.plf|"
    r"check--?\d+\.plc)(\.tmp)?",
    re.ASCII,
)
# of a body, of other meshes bound to it, of its particles; fractured, of its debris
BODY_FILES = re.compile(
    r"(\d{2,4}-[A-Za-z0-9_-]+)(\.(on-[A-Za-z0-9_-]+|particles|values))?"
    r"(\.broken)?(\.debris|\.piece-\d+)?(\.velocity|\.attributes|\.stretch)?"
    r"\.(pc2|rest|cells|faces|mdd|abc|npz)",
    re.ASCII,
)
INCOMING = "bake.incoming"  # a folder while a bake is copied (copying.py)
# files that desktops and file systems create in any folder
CLUTTER = {".DS_Store", "Thumbs.db", "desktop.ini", ".directory", "lost+found"}
TEMPORARY = ".tmp"
# Magic bytes by file name ending. Files of .rest, .cells and .faces contain only numbers.
BEGINNINGS = {
    ".files": (HEAD.encode(),),
    ".json": (b'{"format": ',),
    ".pc2": (b"POINTCACHE2\0",),
    ".npz": (b"PK\x03\x04",),
    ".abc": (b"Ogawa", b"\x89HDF"),
    ".plh": (b"PLIANTSH",),
    ".plj": (b"PLIANTJN",),
    ".pll": (b"PLIANTLY",),
    ".plf": (b"PLIANTFR",),
    ".plc": (b"PLIANTCP",),
}
MOST_FRAMES = 1 << 20  # of a bake
_MOST_BYTES = 1 << 26
_read = {}  # path of a list -> (its stat, the names): read for each file that is made


class ForeignError(BakeError):
    """A sentence on a folder or file that does not belong to a bake."""


def safe_name(index, name):
    """A portable file name from a body's number and name."""
    letters = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:40]
    return f"{index:02d}-{letters or 'body'}"


def _is_name(text):
    return text in (INFO_NAME, STORE_MARK) or BODY_FILES.fullmatch(text) is not None


def is_of_its_kind(path):
    """Whether a file is what its name says, as far as its first bytes tell; incomplete files, as a
    kill or a full disk leaves them, count too. So do links: deleting one loses nothing."""
    path = Path(path)
    try:
        kind = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(kind):
        return stat.S_ISLNK(kind)
    with files.open_regular(path) as file:
        head, size = file.read(16), os.fstat(file.fileno()).st_size
    ending = Path(path.name.removesuffix(TEMPORARY)).suffix
    if not head.strip(b"\0"):  # left by a power cut
        return True
    if ending == ".mdd":
        frames, vertices = struct.unpack(">ii", head[:8].ljust(8, b"\0"))
        return 0 <= frames <= MOST_FRAMES and 0 <= vertices and size <= 8 + 4 * frames + 12 * frames * vertices
    return ending not in BEGINNINGS or any(head[: len(right)] == right[: len(head)] for right in BEGINNINGS[ending])


# ---------------------------------------------------------------- reading


def listed(folder):
    """Names of a bake's files in a folder, as a set; None: the folder is not a cache. A BakeError
    if it cannot be read."""
    folder = Path(folder)
    try:
        names = _listed(folder / NAME)
        return _former(folder) if names is None else names
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, files.NotRegular):
        return None
    except OSError as error:
        raise file_error(error, "read", error.filename or folder) from error


def _listed(path):
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    mark = found.st_mtime_ns, found.st_size, found.st_ino
    known = _read.get(str(path))
    if known is None or known[0] != mark:
        with files.open_regular(path) as file:
            text = file.read(_MOST_BYTES).decode("ascii", "replace")
        # an incomplete last line is dropped
        head, *lines = text.split("\n")[:-1] or [""]
        names = {line for line in lines if _is_name(line)} if head == HEAD else None
        known = _read[str(path)] = mark, names
    return known[1]


def _former(folder):
    """For bakes of earlier versions: files named after one of its bodies."""
    try:
        with files.open_regular(folder / INFO_NAME) as file:
            data = json.loads(file.read())
        if type(data["format"]) is not int:
            return None
        stems = {safe_name(index, body["name"]) for index, body in enumerate(data["bodies"])}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    there = {entry.name for entry in os.scandir(folder)}
    found = {name.removesuffix(TEMPORARY) for name in there}
    matches = (BODY_FILES.fullmatch(name) for name in found)
    return {INFO_NAME, STORE_MARK} | {match[0] for match in matches if match and match[1] in stems}


def is_ours(folder):
    return listed(folder) is not None


def check_free(folder):
    """Raises a ForeignError unless a bake may be made in a folder: it is missing, empty, or a
    cache."""
    folder = Path(folder)
    if is_ours(folder):
        return
    stranger = _stranger(folder)
    if stranger is not None:
        raise ForeignError(
            f"{folder} has files that are not of a bake, such as '{stranger}', and is left as it is. "
            f"Set Cache Folder to a new or an empty folder, or empty this one yourself."
        )


def _stranger(folder):
    """A name in a folder that does not belong to a bake, or None."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise file_error(error, "read the cache folder", folder) from error
    return next(
        (
            name
            for name in names
            if name not in CLUTTER and not name.startswith(lock.NAME) and name not in (NAME + TEMPORARY, INCOMING)
        ),
        None,
    )


def paths(folder):
    """Paths of all existing files of a bake whose contents match their names; bake.json is the
    first, so that an interrupted deletion leaves no bake."""
    folder = Path(folder)
    names = listed(folder) or ()
    found = [
        folder / f"{name}{ending}"
        for name in sorted(names, key=lambda n: (n != INFO_NAME, n))
        if name != STORE_MARK
        for ending in ("", TEMPORARY)
    ]
    store = folder / STORE_NAME
    if STORE_MARK in names and store.is_dir() and not files.is_link(store):
        found += sorted(p for p in store.iterdir() if STORE_FILES.fullmatch(p.name))
    return [path for path in found if is_of_its_kind(path)]


# ---------------------------------------------------------------- writing


def start(folder, names):
    """Creates the list of a new bake with the files that it will have. An existing file that does
    not belong to a bake is a ForeignError."""
    folder = Path(folder)
    check_names(folder, names)
    text = "".join(f"{line}\n" for line in (HEAD, *names))
    _write(folder / NAME, text.encode("ascii"))


def claim(folder, name):
    """Adds the name of a file to the list of the folder's bake, before the file is made."""
    folder = Path(folder)
    names = listed(folder)
    if names is None or not _is_name(name):
        raise ForeignError(f"{folder / name} is not written: there is no bake in that folder.")
    lock.check(folder)
    if not (folder / NAME).is_file():
        start(folder, sorted(names))  # a bake of an earlier version
    check_names(folder, [name])
    if name in names:
        return
    try:
        with files.open_regular(folder / NAME, "ab") as file:
            file.write(f"\n{name}\n".encode("ascii"))  # the line before it may be incomplete
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise file_error(error, "write", folder / NAME) from error


def check_names(folder, names):
    """Raises a ForeignError if one of these names is taken by a file that does not belong to the
    folder's bake."""
    folder, known = Path(folder), listed(folder) or set()
    for name in names:
        path = folder / name.removesuffix("/")
        for place in (path, path.with_name(path.name + TEMPORARY)):
            if os.path.lexists(place) and not _is_own(place, name, known):
                raise ForeignError(
                    f"{place} is not of this bake and is not written over: move it away, "
                    f"or set Cache Folder to another folder."
                )


def _is_own(place, name, known):
    try:
        return _is_listed(place, name, known) and (name == STORE_MARK or is_of_its_kind(place))
    except OSError as error:
        raise file_error(error, "read", place) from error


def _is_listed(place, name, known):
    if name == STORE_MARK:
        return (
            place.name == STORE_NAME
            and place.is_dir()
            and not files.is_link(place)
            and (name in known or not any(place.iterdir()))
        )
    # on a case-insensitive file system it is the same file
    former = (
        place.with_name(other + place.name[len(name) :])
        for other in known
        if other != name and other.casefold() == name.casefold()
    )
    return name in known or any(files.same(place, other) for other in former)


@contextlib.contextmanager
def _finished(path):
    """files.replaced(), if the caller still holds the folder's lock."""
    with files.replaced(path) as unfinished:
        yield unfinished
        lock.check(path.parent)


def _write(path, data):
    with _finished(path) as unfinished, files.create(unfinished) as file:
        file.write(data)


def write(path, data):
    """Writes a file of the bake atomically; the caller must hold the folder's lock."""
    path = Path(path)
    claim(path.parent, path.name)
    _write(path, data)


@contextlib.contextmanager
def replaced(path):
    """files.replaced(); in a cache the file is added to the list, and the folder is locked
    meanwhile."""
    path = Path(path)
    if not is_ours(path.parent):
        with files.replaced(path) as unfinished:
            yield unfinished
        return
    with lock.writing(path.parent):
        claim(path.parent, path.name)
        with _finished(path) as unfinished:
            yield unfinished


# ---------------------------------------------------------------- deleting


def remove_files(folder):
    """Deletes the bake's files in a cache folder, all but the list; the frame store's folder if it
    is empty."""
    folder = Path(folder)
    names = listed(folder)
    if names is not None and not (folder / NAME).is_file():
        # a bake of an earlier version: bake.json is deleted first
        with contextlib.suppress(BakeError):  # a full disk: deleting makes room
            start(folder, sorted(names))
    for path in paths(folder):
        files.remove(path)
    remove_empty(folder / STORE_NAME)


def remove_all(folder):
    """Deletes a bake with its list, and its folder if it is empty."""
    if is_ours(folder):
        remove_files(folder)
    for path in (Path(folder) / (NAME + TEMPORARY), Path(folder) / NAME):
        if is_of_its_kind(path):
            files.remove(path)
    remove_empty(folder)


def remove_empty(folder):
    """Removes a folder if it is empty."""
    folder = Path(folder)
    if folder.is_dir() and not files.is_link(folder) and not any(folder.iterdir()):
        folder.rmdir()
