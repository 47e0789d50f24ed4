# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2 point caches: where each vertex is in each frame, as Blender's Mesh Cache modifier plays it.

    "POINTCACHE2\\0", int32 version 1, int32 vertices, float32 first frame, float32 frames a sample,
    int32 samples; then samples x vertices x 3 float32; all little-endian

Blender reads the file anew at each frame and shows no error if it does not fit, so everything is
checked here. A frame is appended, then synced, and only then counted in the header: whoever reads
while a bake is writing, or after it was killed, sees whole frames only.
"""

import os
import struct
from typing import NamedTuple

import numpy as np

from ..errors import BakeError, file_error
from ..files import create, open_regular

MAGIC = b"POINTCACHE2\0"
HEADER = struct.Struct("<12siiffi")
_COUNT = struct.Struct("<i")
_COUNT_OFFSET = HEADER.size - _COUNT.size
ROW = 12  # bytes a vertex


class Header(NamedTuple):
    vertices: int
    start: float
    sampling: float
    frames: int


class Pc2Error(BakeError):
    """A sentence on what is wrong with a point cache."""


def _failed(error, doing, path):
    return Pc2Error(str(file_error(error, doing, path)))


class Writer:
    """Rows of a new file, or (keep) of one that is there; rows may be written again.

    A file that is there is replaced, not written over: a link in a stranger's cache must not
    lead out of it.
    """

    def __init__(self, path, vertices, start=0.0, sampling=1.0, keep=False, sync=True):
        if not 0 < vertices < 2**31:
            raise Pc2Error(f"A point cache cannot hold {vertices} vertices.")
        self.path, self.vertices, self.frames, self._sync = path, vertices, 0, sync
        self._file = None
        if keep:
            self.frames = check(path, vertices).frames
        try:
            if keep:
                self._file = open_regular(path, "r+b", buffering=0)
            else:
                self._file = create(path, buffering=0)
                self._write(HEADER.pack(MAGIC, 1, vertices, start, sampling, 0))
        except OSError as error:
            self.close()
            raise _failed(error, "write", path) from error

    def write(self, index, positions):
        """Row `index`, (vertices, 3), at most one after the last. If it cannot be written, the
        file keeps the rows that it had."""
        if not 0 <= index <= self.frames:
            raise Pc2Error(f"{self.path} has {self.frames} frames: frame {index} cannot follow.")
        rows = np.ascontiguousarray(positions, dtype="<f4")
        if rows.shape != (self.vertices, 3):
            raise Pc2Error(f"{self.path} is for {self.vertices} vertices; a frame of shape {rows.shape} does not fit.")
        try:
            self._file.seek(self._place(index))
            self._write(memoryview(rows).cast("B"))
            if index == self.frames:
                if self._sync:
                    os.fsync(self._file.fileno())
                self._set_count(index + 1)
        except OSError as error:
            raise _failed(error, "write", self.path) from error

    def append(self, positions):
        """One more row."""
        self.write(self.frames, positions)

    def truncate(self, frames):
        """Forgets the rows from `frames` on."""
        if frames >= self.frames:
            return
        try:
            self._set_count(frames)
            self._file.truncate(self._place(frames))
        except OSError as error:
            raise _failed(error, "write", self.path) from error

    def _place(self, index):
        return HEADER.size + index * self.vertices * ROW

    def _write(self, data):
        """All of the data: an unbuffered write may take a part only."""
        data = memoryview(data)
        while len(data):
            data = data[self._file.write(data) :]

    def _set_count(self, count):
        self._file.seek(_COUNT_OFFSET)
        self._write(_COUNT.pack(count))
        self.frames = count

    def sync(self):
        """Waits until all of it is on the disk; for writers that do not do so for each row."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _failed(error, "write", self.path) from error

    def close(self):
        if self._file is not None:
            try:
                if self._sync:
                    self.sync()
            finally:
                self._file.close()
                self._file = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _read_header(path, file):
    data = file.read(HEADER.size)
    if len(data) < HEADER.size:
        raise Pc2Error(f"{path} is not a point cache: it ends within its header.")
    magic, version, vertices, start, sampling, frames = HEADER.unpack(data)
    if magic != MAGIC:
        raise Pc2Error(f"{path} is not a PC2 point cache.")
    if version != 1:
        raise Pc2Error(f"{path} is a point cache of version {version}; only version 1 is known.")
    if vertices <= 0 or frames < 0:
        raise Pc2Error(f"{path} is damaged: its header tells of {vertices} vertices and {frames} frames.")
    return Header(vertices, start, sampling, frames)


def check(path, vertices=None, frames=None):
    """The header of a file that is whole; Pc2Error says what is wrong with it otherwise.

    vertices: how many there must be; frames: how many there must be at least.
    """
    try:
        with open_regular(path) as file:
            header = _read_header(path, file)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise _failed(error, "read", path) from error
    if vertices is not None and header.vertices != vertices:
        raise Pc2Error(f"{path} is for {header.vertices} vertices, but the mesh has {vertices}.")
    if frames is not None and header.frames < frames:
        raise Pc2Error(f"{path} has {header.frames} frames, but {frames} are needed.")
    whole = (size - HEADER.size) // (header.vertices * ROW)
    if whole < header.frames:
        raise Pc2Error(f"{path} is cut off: {whole} of its {header.frames} frames are there.")
    return header


def read_row(path, index):
    """One row as a new (vertices, 3) array."""
    header = check(path)
    if not 0 <= index < header.frames:
        raise Pc2Error(f"{path} has {header.frames} frames, none at {index}.")
    with open_regular(path) as file:
        file.seek(HEADER.size + index * header.vertices * ROW)
        row = np.frombuffer(file.read(header.vertices * ROW), "<f4")
    return row.reshape(-1, 3).astype(np.float32, copy=False)


def frames(path):
    """All frames as an array (frames, vertices, 3) that is read from disk as it is used."""
    header = check(path)
    if header.frames == 0:
        return np.empty((0, header.vertices, 3), "<f4")
    with open_regular(path) as file:
        return np.memmap(file, "<f4", "r", HEADER.size, (header.frames, header.vertices, 3))
