# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a bake.

    bake.files      the list of these files: nothing else is deleted (manifest.py)
    bake.json       what was baked: frames, bodies, where their objects stood, a fingerprint
    frames/         the library's frame store: everything that output is made from
    00-Suzanne.pc2  for each body: its own mesh, skinned, in the object's coordinates
    00-Suzanne.rest for each body: its mesh as it was bound, float32, relative to the origin
    00-Suzanne.cells  of bodies that break along a pattern: its points, likewise
    00-Suzanne.faces  of bodies with several parts: the mesh's triangles, uint32
    bake.lock       while somebody is writing: who (lock.py)

bake.json may come from a stranger: it is data, every name and number in it is checked, and no path
is ever made from anything but a body's number and the letters of its name.
"""

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import solver
from . import copying, files, lock, manifest
from .copying import Copy, copy  # noqa: F401 - callers ask here
from .errors import BakeError, file_error
from .fingerprint import Fingerprint, fingerprint
from .formats import pc2
from .manifest import INFO_NAME, MOST_FRAMES, STORE_MARK, STORE_NAME, safe_name

FORMAT = 1
FIRST_RECORD = 24 + 80  # bytes of a journal that has its header and one record (journal.h)
MOST_BODIES = 4096


class CacheError(BakeError):
    """A sentence on why a cache cannot be used."""


def _failed(error, doing, path):
    return CacheError(str(file_error(error, doing, path)))


@dataclass
class CachedBody:
    index: int  # in the store
    name: str  # the object's
    vertices: int
    topology: str
    matrices: np.ndarray  # (frames, 4, 4) or (1, 4, 4) where it never moves: object to world
    source: str = ""  # Body.source; none: it was baked before there was one

    @property
    def file_name(self):
        return safe_name(self.index, self.name)


class Cache:
    """A bake on disk. Cache.create() makes one for a shot, Cache.open() opens an existing one."""

    def __init__(self, folder, data):
        self.folder = Path(folder)
        self._take(data)

    # ------------------------------------------------------------ making and opening

    @classmethod
    def create(cls, folder, shot):
        """An empty cache for a shot; an existing bake is cleared. The caller must hold the folder's
        lock. A folder with other files is a ForeignError."""
        folder = make_folder(folder)
        manifest.check_free(folder)
        cache = cls(folder, describe(shot))
        names = [INFO_NAME, STORE_MARK]
        for body in cache.bodies:
            names += [cache.rest_path(body).name, cache.pc2_path(body).name]
        manifest.check_names(folder, names)  # before anything is deleted
        try:
            manifest.remove_files(folder)
            manifest.start(folder, names)
            for cached, body in zip(cache.bodies, shot.bodies):
                manifest.write(cache.rest_path(cached), np.ascontiguousarray(body.vertices, "<f4").tobytes())
            cache.write()
        except OSError as error:
            raise _failed(error, "write to the cache folder", folder) from error
        return cache

    @classmethod
    def open(cls, folder):
        path = Path(folder) / INFO_NAME
        try:
            with files.open_regular(path) as file:
                text = file.read().decode("utf-8")
        except FileNotFoundError:
            raise CacheError(f"Nothing is baked in {folder}.") from None
        except OSError as error:
            raise _failed(error, "read", path) from error
        except UnicodeDecodeError:
            raise CacheError(f"{path} is damaged: it is not text. Clear the bake and bake again.") from None
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CacheError(f"{path} is damaged: {error}. Clear the bake and bake again.") from None
        try:
            return cls(folder, data)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise CacheError(f"{path} is damaged: {_described(error)}. Clear the bake and bake again.") from None

    def _take(self, data):
        if not isinstance(data, dict):
            raise ValueError("it is not a description of a bake")
        version = data.get("format")
        if version != FORMAT:
            raise CacheError(
                f"The cache in {self.folder} has format {version!r}, this version of "
                f"Pliant reads {FORMAT}. Clear the bake and bake again."
            )
        self.scene = _text(data["scene"], "scene")
        self.fps = _number(data["fps"], "fps", 1e-3, 1e6)
        self.start = _whole(data["start"], "start", -MOST_FRAMES, MOST_FRAMES)
        self.end = _whole(data["end"], "end", self.start, self.start + MOST_FRAMES)
        self.origin = tuple(_number(v, "origin", -1e12, 1e12) for v in _list(data["origin"], 3))
        self.quick = bool(data.get("quick", False))
        listed = _list(data["bodies"])
        if not 1 <= len(listed) <= MOST_BODIES:
            raise ValueError(f"{len(listed)} bodies")
        self.bodies = [self._body(index, body) for index, body in enumerate(listed)]
        parts = {_text(k, "part"): _text(v, "hash") for k, v in dict(data["parts"]).items()}
        inputs = [_text(value, "input") for value in _list(data["inputs"])]
        hashes = [_text(value, "hash") for value in _list(data["frames"])]
        if len(hashes) != self.end - self.start + 1:
            raise ValueError(f"{len(hashes)} frames")
        values = {
            _text(name, "part"): {_text(k, "setting"): _text(v, "value") for k, v in dict(found).items()}
            for name, found in dict(data.get("values", {})).items()
        }
        self.fingerprint = Fingerprint(parts, inputs, dict(enumerate(hashes, self.start)), values)

    def _body(self, index, data):
        name = _text(data["name"], "name")
        frames = self.end - self.start + 1
        matrices = np.array(data["matrices"], np.float64)
        if (
            matrices.ndim != 2
            or matrices.shape[1] != 16
            or matrices.shape[0] not in (1, frames)
            or not np.isfinite(matrices).all()
        ):
            raise ValueError(f"the matrices of '{name}'")
        vertices = _whole(data["vertices"], f"the vertices of '{name}'", 1, 2**31 - 1)
        return CachedBody(
            index,
            name,
            vertices,
            _text(data["topology"], "topology"),
            matrices.reshape(-1, 4, 4),
            _text(data.get("source", ""), "source"),
        )

    def write(self):
        """Writes bake.json atomically."""
        data = {
            "format": FORMAT,
            "scene": self.scene,
            "fps": self.fps,
            "start": self.start,
            "end": self.end,
            "origin": list(self.origin),
            "quick": self.quick,
            "bodies": [
                {
                    "name": b.name,
                    "vertices": b.vertices,
                    "topology": b.topology,
                    "matrices": b.matrices.reshape(-1, 16).tolist(),
                    "source": b.source,
                }
                for b in self.bodies
            ],
            "parts": self.fingerprint.parts,
            "inputs": self.fingerprint.inputs,
            "values": self.fingerprint.values,
            "frames": [self.fingerprint.frames[n] for n in range(self.start, self.end + 1)],
        }
        manifest.write(self.folder / INFO_NAME, json.dumps(data).encode("utf-8"))

    def adopt(self, shot):
        """Takes over a shot that extends a bake: its end, its later frames."""
        self._take(describe(shot))
        try:
            self.write()
        except OSError as error:
            raise _failed(error, "write to the cache folder", self.folder) from error

    # ------------------------------------------------------------ contents

    def body(self, name):
        """The cached body of an object, or None."""
        return next((b for b in self.bodies if b.name == name), None)

    def matrix(self, body, frame):
        """The matrix of the body's object at a frame."""
        matrices = body.matrices
        return matrices[0 if len(matrices) == 1 else min(max(frame - self.start, 0), len(matrices) - 1)]

    @property
    def store_path(self):
        return self.folder / STORE_NAME

    def pc2_path(self, body):
        return self.folder / f"{body.file_name}.pc2"

    def rest_path(self, body):
        return self.folder / f"{body.file_name}.rest"

    def rest(self, body):
        """The mesh as it was bound: (n, 3) float32 in world space, relative to self.origin."""
        path = self.rest_path(body)
        try:
            values = _floats(path)
        except OSError as error:
            raise _failed(error, "read", path) from error
        if values.size != 3 * body.vertices:
            raise CacheError(
                f"{path} has {values.size // 3} vertices, not {body.vertices}: the "
                f"cache is damaged. Clear the bake and bake again."
            )
        return values.reshape(-1, 3).astype(np.float32, copy=False)

    def cells_path(self, body):
        return self.folder / f"{body.file_name}.cells"

    def write_cells(self, body, points):
        manifest.write(self.cells_path(body), np.ascontiguousarray(points, "<f4").tobytes())

    def cells(self, body):
        """Points of the Voronoi cells that a body breaks along, (n, 3); none: it breaks anywhere."""
        path = self.cells_path(body)
        try:
            values = _floats(path) if os.path.lexists(path) else np.zeros(0)
        except OSError as error:
            raise _failed(error, "read", path) from error
        if values.size % 3 or not np.isfinite(values).all():
            raise CacheError(f"{path} is damaged. Clear the bake and bake again.")
        return values.reshape(-1, 3).astype(np.float64)

    def faces_path(self, body):
        return self.folder / f"{body.file_name}.faces"

    def write_faces(self, body, triangles):
        manifest.write(self.faces_path(body), np.ascontiguousarray(triangles, "<u4").tobytes())

    def faces(self, body):
        """Triangles of a body's mesh, (n, 3) uint32, if it has several parts; otherwise None."""
        path = self.faces_path(body)
        if not os.path.lexists(path):
            return None
        try:
            values = _numbers(path, "<u4")
        except OSError as error:
            raise _failed(error, "read", path) from error
        if values.size % 3 or (values >= body.vertices).any():
            raise CacheError(f"{path} is damaged. Clear the bake and bake again.")
        return values.reshape(-1, 3).astype(np.uint32, copy=False)

    def open_store(self, mode="read", **settings):
        """The library's frame store; a CacheError if it cannot be opened."""
        if files.is_link(self.store_path):
            raise CacheError(f"{self.store_path} is a link, which a cache never has: it is not used.")
        try:
            return solver.Store(self.store_path, mode, **settings)
        except solver.PliantError as error:
            raise CacheError(f"The frames in {self.store_path} cannot be used: {error}.") from error

    def baked(self):
        """(first, last) finished frame, or None if there is none, also if a bake ended before the
        store's header or its first record was written."""
        journal = self.store_path / "journal.plj"
        if not journal.is_file() or journal.stat().st_size < FIRST_RECORD:
            return None
        with self.open_store() as store:
            info = store.info
        return (info.first_frame, info.last_frame) if info.first_frame <= info.last_frame else None

    def is_complete(self, end=None):
        """Whether every frame is in the store, with a checkpoint, and every row of the point caches
        is written and counted."""
        end = self.end if end is None else end
        baked = self.baked()
        if baked is None or baked[0] > self.start or baked[1] < end:
            return False
        with self.open_store() as store:
            if store.info.last_checkpoint < baked[0]:
                return False
        try:
            for body in self.bodies:
                pc2.check(self.pc2_path(body), body.vertices, end - self.start + 1)
        except pc2.Pc2Error:
            return False
        return True

    def bytes(self):
        """Size on disk."""
        return sum(p.stat().st_size for p in self.folder.rglob("*") if p.is_file())

    def check(self):
        """Raises a CacheError unless everything that playing and output need is complete."""
        baked = self.baked()
        if baked is None:
            raise CacheError(f"No frame is finished in {self.store_path}.")
        with self.open_store() as store:
            if store.info.bodies != len(self.bodies):
                raise CacheError(
                    f"The frames in {self.store_path} have {store.info.bodies} "
                    f"bodies, bake.json has {len(self.bodies)}: the cache is "
                    f"damaged."
                )
        for body in self.bodies:
            self.rest(body)
            try:
                header = pc2.check(self.pc2_path(body))
            except pc2.Pc2Error as error:
                raise CacheError(str(error)) from error
            if header.vertices != body.vertices:
                raise CacheError(
                    f"{self.pc2_path(body)} has {header.vertices} vertices, not {body.vertices}: the cache is damaged."
                )


def describe(shot):
    """Content of bake.json for a shot."""
    bodies = []
    for index, body in enumerate(shot.bodies):
        matrices = np.array([frame.bodies[index].matrix for frame in shot.frames], np.float64)
        if (matrices == matrices[0]).all():
            matrices = matrices[:1]
        bodies.append(
            {
                "name": body.name,
                "vertices": len(body.vertices),
                "topology": body.topology,
                "matrices": matrices.reshape(-1, 16).tolist(),
                "source": body.source,
            }
        )
    marks = fingerprint(shot)
    return {
        "format": FORMAT,
        "scene": shot.scene,
        "fps": float(shot.fps),
        "start": shot.start,
        "end": shot.end,
        "origin": [float(v) for v in shot.origin],
        "quick": shot.quick,
        "bodies": bodies,
        "parts": marks.parts,
        "inputs": marks.inputs,
        "values": marks.values,
        "frames": [marks.frames[n] for n in range(shot.start, shot.end + 1)],
    }


def make_folder(folder):
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _failed(error, "make the cache folder", folder) from error
    return folder


def clear(folder):
    """Removes a bake: the files on its list, then its folders if they are empty. A LockedError if
    the folder is being written to, a ForeignError if it has other files and no bake; then
    nothing is removed."""
    folder = Path(folder)
    if not manifest.is_ours(folder):
        manifest.check_free(folder)
    if os.path.lexists(folder):
        with lock.writing_if_there_is_room(folder):  # removes a stale lock, too
            copying.remove_incoming(folder)
            manifest.remove_all(folder)
    manifest.remove_empty(folder)


def _numbers(path, kind):
    with files.open_regular(path) as file:
        data = file.read()
    return np.frombuffer(data[: len(data) // 4 * 4], kind)


def _floats(path):
    return _numbers(path, "<f4")


# ---------------------------------------------------------------- validation of bake.json


def _described(error):
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)


def _text(value, what):
    if not isinstance(value, str) or len(value) > 1 << 20:
        raise ValueError(f"{what} is not a name")
    return value


def _number(value, what, least, most):
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not math.isfinite(value)
        or not least <= value <= most
    ):
        raise ValueError(f"{what} is {value!r}")
    return float(value)


def _whole(value, what, least, most):
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{what} is {value!r}")
    return value


def _list(value, count=None):
    if not isinstance(value, list) or count not in (None, len(value)):
        raise ValueError(f"a list was expected, not {str(value)[:60]}")
    return value
