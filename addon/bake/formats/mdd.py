# SPDX-License-Identifier: GPL-3.0-or-later
"""MDD point caches, which many programs read.

    int32 frames, int32 vertices, float32 times[frames] in seconds; then frames x vertices x 3
    float32; all big-endian

Where the data begin depends on the number of frames, so a file cannot grow: it is written under
another name and renamed when it is whole. A file that was there stays until then.
"""

import os
import struct
from typing import NamedTuple

import numpy as np

from ..errors import BakeError, file_error
from ..files import open_regular
from ..manifest import replaced

HEADER = struct.Struct(">ii")
ROW = 12  # bytes a vertex


class Header(NamedTuple):
    frames: int
    vertices: int
    times: np.ndarray  # float32, seconds


def write(path, vertices, times, frames):
    """Writes a file from an iterable of arrays (vertices, 3), one for each of the times."""
    times = np.asarray(times, ">f4").reshape(-1)
    if not 0 < vertices < 2**31:
        raise BakeError(f"An MDD file cannot hold {vertices} vertices.")
    with replaced(path) as unfinished, open(unfinished, "xb") as file:
        file.write(HEADER.pack(len(times), vertices))
        file.write(times.tobytes())
        count = 0
        for positions in frames:
            rows = np.ascontiguousarray(positions, dtype=">f4")
            if rows.shape != (vertices, 3):
                raise BakeError(f"{path} is for {vertices} vertices; a frame of shape {rows.shape} does not fit.")
            file.write(memoryview(rows).cast("B"))
            count += 1
        if count != len(times):
            raise BakeError(f"{path} was to have {len(times)} frames, but {count} came.")


def check(path, vertices=None, frames=None):
    """The header of a file that is whole; BakeError says what is wrong with it otherwise.

    The format has no mark of its own: that the size fits the header is what tells it.
    """
    try:
        size = os.path.getsize(path)
        with open_regular(path) as file:
            data = file.read(HEADER.size)
            if len(data) < HEADER.size:
                raise BakeError(f"{path} is not an MDD file: it ends within its header.")
            count, there = HEADER.unpack(data)
            if count < 0 or there <= 0 or 4 * count > size:
                raise BakeError(
                    f"{path} is not an MDD file, or damaged: its header tells of {there} vertices and {count} frames."
                )
            times = np.frombuffer(file.read(4 * count), ">f4")
    except OSError as error:
        raise file_error(error, "read", path) from error
    if vertices is not None and there != vertices:
        raise BakeError(f"{path} is for {there} vertices, but the mesh has {vertices}.")
    if frames is not None and count < frames:
        raise BakeError(f"{path} has {count} frames, but {frames} are needed.")
    whole = max(0, size - HEADER.size - 4 * count) // (there * ROW)
    if whole < count:
        raise BakeError(f"{path} is cut off: {whole} of its {count} frames are there.")
    return Header(count, there, times.astype(np.float32))


def frames(path):
    """All frames as an array (frames, vertices, 3) that is read from disk as it is used."""
    header = check(path)
    if header.frames == 0:
        return np.empty((0, header.vertices, 3), ">f4")
    with open_regular(path) as file:
        return np.memmap(file, ">f4", "r", HEADER.size + 4 * header.frames, (header.frames, header.vertices, 3))
