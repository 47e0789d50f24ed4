# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2 point caches: where every vertex is in every frame, as Blender's Mesh Cache modifier plays it.

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

from .errors import BakeError, file_error

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


class Writer:
    """Appends frames to a file of its own.

    With `keep`, an existing file for the same number of vertices goes on after its first `keep`
    frames; what follows them is forgotten.
    """

    def __init__(self, path, vertices, start=0.0, sampling=1.0, keep=None, sync=True):
        if not 0 < vertices < 2**31:
            raise BakeError(f"A point cache cannot hold {vertices} vertices.")
        self.path, self.vertices, self.frames, self._sync = path, vertices, 0, sync
        self._file = None
        if keep is not None:
            header = check(path, vertices)
            if header.frames < keep:
                raise BakeError(f"{path} has {header.frames} frames, so it cannot go on after "
                                f"{keep}.")
        try:
            if keep is None:
                self._file = open(path, "wb", buffering=0)
                self._write(HEADER.pack(MAGIC, 1, vertices, start, sampling, 0))
            else:
                self._file = open(path, "r+b", buffering=0)
                self._set_count(keep)
                self._file.truncate(HEADER.size + keep * vertices * ROW)
                self._file.seek(0, os.SEEK_END)
        except OSError as error:
            self.close()
            raise file_error(error, "write", path) from error

    def append(self, positions):
        """One more frame: (vertices, 3). If it cannot be written, the file keeps those before."""
        rows = np.ascontiguousarray(positions, dtype="<f4")
        if rows.shape != (self.vertices, 3):
            raise BakeError(f"{self.path} is for {self.vertices} vertices; a frame of shape "
                            f"{rows.shape} does not fit.")
        end = HEADER.size + self.frames * self.vertices * ROW
        try:
            self._write(memoryview(rows).cast("B"))
            if self._sync:
                os.fsync(self._file.fileno())
            self._set_count(self.frames + 1)
            self._file.seek(0, os.SEEK_END)
        except OSError as error:
            try:
                self._file.truncate(end)
                self._file.seek(end)
            except OSError:
                pass  # the header still counts whole frames only
            raise file_error(error, "write", self.path) from error

    def _write(self, data):
        """All of the data: an unbuffered write may take a part only."""
        data = memoryview(data)
        while len(data):
            data = data[self._file.write(data):]

    def _set_count(self, count):
        self._file.seek(_COUNT_OFFSET)
        self._write(_COUNT.pack(count))
        self.frames = count

    def close(self):
        if self._file is not None:
            try:
                if self._sync:
                    os.fsync(self._file.fileno())
            except OSError as error:
                raise file_error(error, "write", self.path) from error
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
        raise BakeError(f"{path} is not a point cache: it ends within its header.")
    magic, version, vertices, start, sampling, frames = HEADER.unpack(data)
    if magic != MAGIC:
        raise BakeError(f"{path} is not a PC2 point cache.")
    if version != 1:
        raise BakeError(f"{path} is a point cache of version {version}; only version 1 is known.")
    if vertices <= 0 or frames < 0:
        raise BakeError(f"{path} is damaged: its header tells of {vertices} vertices and {frames} "
                        f"frames.")
    return Header(vertices, start, sampling, frames)


def read_header(path):
    """The header, without a look at what follows."""
    try:
        with open(path, "rb") as file:
            return _read_header(path, file)
    except OSError as error:
        raise file_error(error, "read", path) from error


def check(path, vertices=None, frames=None):
    """The header of a file that is whole; BakeError says what is wrong with it otherwise.

    vertices: how many there must be; frames: how many there must be at least.
    """
    header = read_header(path)
    if vertices is not None and header.vertices != vertices:
        raise BakeError(f"{path} is for {header.vertices} vertices, but the mesh has {vertices}.")
    if frames is not None and header.frames < frames:
        raise BakeError(f"{path} has {header.frames} frames, but {frames} are needed.")
    try:
        size = os.path.getsize(path)
    except OSError as error:
        raise file_error(error, "read", path) from error
    whole = (size - HEADER.size) // (header.vertices * ROW)
    if whole < header.frames:
        raise BakeError(f"{path} is cut off: {whole} of its {header.frames} frames are there.")
    return header


def frames(path):
    """All frames as an array (frames, vertices, 3) that is read from disk as it is used."""
    header = check(path)
    if header.frames == 0:
        return np.empty((0, header.vertices, 3), "<f4")
    return np.memmap(path, "<f4", "r", HEADER.size, (header.frames, header.vertices, 3))
