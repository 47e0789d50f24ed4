# SPDX-License-Identifier: GPL-3.0-or-later
"""Connectivity history of a stored body, as surface reconstruction of cracks needs it."""

from typing import NamedTuple

import numpy as np

from ._abi import Channel


class Broken(NamedTuple):
    """The final set of particles of one body. Times are frames of the store.

    A copy has a parent (an index into the same arrays; -1: an original) and its parent's rest
    position. `pairs` shared a cluster until frame `until` (infinity: they still do in the last
    frame). Particle split_old was divided at split_time by a plane in the rest shape; split_new
    took the side that the normal points to. Planes divided clusters: point, normal, reach, time.
    """

    rest: np.ndarray
    parent: np.ndarray
    birth: np.ndarray
    pairs: np.ndarray
    until: np.ndarray
    spacing: float
    split_old: np.ndarray
    split_new: np.ndarray
    split_point: np.ndarray
    split_normal: np.ndarray
    split_time: np.ndarray
    plane_point: np.ndarray
    plane_normal: np.ndarray
    plane_reach: np.ndarray
    plane_time: np.ndarray


def broken(store, body_index, origin=None, reach=0.0):
    """The Broken of body `index`; rest positions and planes are relative to origin."""

    def read(channel):
        return store.read(body_index, store.info.first_frame, channel, origin=origin)

    parent = read(Channel.PARENT).astype(np.int64)
    parent[parent == np.arange(len(parent))] = -1
    plane, time = read(Channel.SPLIT_PLANE).astype(np.float64), read(Channel.SPLIT_TIME)
    split, old, new, toward = read(Channel.DIVIDED).astype(np.int64).T
    pairs, until = store.pairs(body_index, reach)
    side = np.where(toward, 1.0, -1.0)[:, None]
    return Broken(
        read(Channel.REST).astype(np.float64),
        parent,
        read(Channel.BIRTH),
        pairs.astype(np.int64),
        until,
        store.body_info(body_index).spacing,
        old,
        new,
        plane[split, :3],
        plane[split, 3:6] * side,
        time[split],
        plane[:, :3],
        plane[:, 3:6],
        plane[:, 6],
        time,
    )
