# SPDX-License-Identifier: GPL-3.0-or-later
"""Fragments of a broken mesh: its parts by piece, their rigid motion, points on their cracks.

Does not import bpy.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..fracture import Surface
from ..solver import Channel
from . import transforms

STILL = 0.05  # body sizes per second: a slower fragment has settled
RATIOS = (0.7548776662466927, 0.5698402909980532)  # R2 low-discrepancy sequence: spreads points evenly over a triangle


@dataclass
class Fragment:
    """piece: its number in the library; came_from: number of the piece it broke off; birth: the
    frame at which it did. vertices, faces: indices into the whole mesh with cracks."""

    piece: int
    came_from: int
    birth: float
    vertices: np.ndarray
    faces: np.ndarray


def fragments(output):
    """The Fragments of a FracturedOutput, by piece."""
    broken = output.broken
    with output.store() as store:
        parent, birth = (
            store.read(output.body.index, output.last, channel)
            for channel in (Channel.PIECE_PARENT, Channel.PIECE_BIRTH)
        )
    return [
        Fragment(
            int(piece),
            int(parent[piece]),
            float(max(birth[piece], output.first)),
            np.flatnonzero(broken.piece == part),
            np.flatnonzero(broken.face_piece == part),
        )
        for part, piece in enumerate(output.numbers())
    ]


def part_of(broken, fragment):
    """A fracture.Broken of one fragment."""
    vertices, faces = fragment.vertices, fragment.faces
    old, number = broken.surface, np.full(len(broken.piece), -1)
    number[vertices] = np.arange(len(vertices))
    sizes = np.diff(old.face_start)[faces]
    begin = np.repeat(old.face_start[:-1][faces] - np.r_[0, np.cumsum(sizes)[:-1]], sizes)
    corner = begin + np.arange(sizes.sum())
    surface = Surface(
        old.vertices[vertices],
        np.r_[0, np.cumsum(sizes)],
        number[old.corners[corner]],
        old.material[faces],
        {n: v[corner] for n, v in old.corner_layers.items()},
        {n: v[vertices] for n, v in old.point_layers.items()},
        {n: v[faces] for n, v in old.face_layers.items()},
        old.normals,
    )
    return replace(
        broken,
        surface=surface,
        inside=broken.inside[faces],
        face_piece=broken.face_piece[faces],
        piece=broken.piece[vertices],
        face_birth=broken.face_birth[faces],
        birth=broken.birth[vertices],
        copy=broken.copy[vertices],
        source_vertex=broken.source_vertex[vertices],
        source_face=broken.source_face[faces],
        source_edge=broken.source_edge[vertices],
        binding=None,
    )


def in_world(output, chosen):
    """Positions of some vertices in all frames, relative to the origin: (frames, n, 3)."""
    rows = output.rows()
    return np.array(
        [
            transforms.mapped(rows[k][chosen], transforms.to_world(output.matrix(frame), output.cache.origin))
            for k, frame in enumerate(output.frames)
        ],
        np.float64,
    )


@dataclass
class Motion:
    """Rigid motion: centre (frames, 3), turn (frames, 3, 3); local (frames, n, 3): the remaining
    deformation."""

    centre: np.ndarray
    turn: np.ndarray
    local: np.ndarray


def rigid_motion(places):
    """The best-fitting rigid motion of a fragment, from its vertices in the first frame."""
    centre = places.mean(1)
    away = places - centre[:, None]
    u, _, v = np.linalg.svd(np.einsum("fni,nj->fij", away, away[0]))
    side = np.linalg.det(u @ v)
    u[:, :, 2] *= np.where(side < 0, -1.0, 1.0)[:, None]
    turn = u @ v
    return Motion(centre, turn, np.einsum("fni,fij->fnj", away, turn))


def settled_frame(motion, first, fps):
    """The frame from which a fragment rests until the end; None: it moves to the end."""
    size = np.sqrt((motion.local[0] ** 2).sum(1).max(initial=0))
    step = np.sqrt((np.diff(motion.centre, axis=0) ** 2).sum(1)) + size * np.sqrt(
        (np.diff(motion.turn, axis=0) ** 2).sum((1, 2)) / 2
    )
    moving = np.flatnonzero(step * fps > STILL * max(size, 1e-9))
    frame = first if not len(moving) else first + int(moving[-1]) + 2
    return frame if frame < first + len(motion.centre) - 1 else None


def quaternions(turn):
    """Quaternions (n, 4) w x y z of rotation matrices, without sign changes between neighbours."""
    found = np.array([transforms.quaternion(matrix) for matrix in turn])
    for k in range(1, len(found)):
        if found[k] @ found[k - 1] < 0:
            found[k] *= -1
    return found


# ---------------------------------------------------------------- points on cracks


@dataclass
class Points:
    """Points on the mesh: three vertices each, with weights."""

    corners: np.ndarray
    weights: np.ndarray
    birth: np.ndarray
    piece: np.ndarray

    def of(self, values):
        """Interpolates vertex values at the points."""
        return np.einsum("pk,pkd->pd", self.weights, values[self.corners])


def crack_points(broken, count):
    """About `count` Points, evenly over all crack faces; deterministic."""
    surface, faces = broken.surface, np.flatnonzero(broken.inside & np.isfinite(broken.face_birth))
    sizes = np.diff(surface.face_start)[faces]
    of = np.repeat(faces, np.maximum(sizes - 2, 0))
    turn = np.arange(len(of)) - np.repeat(np.cumsum(sizes - 2) - (sizes - 2), sizes - 2)
    start = surface.face_start[of]
    corners = np.column_stack(
        [surface.corners[start], surface.corners[start + turn + 1], surface.corners[start + turn + 2]]
    )
    a, b, c = (surface.vertices[corners[:, k]] for k in range(3))
    area = np.sqrt((np.cross(b - a, c - a) ** 2).sum(1))
    total = np.cumsum(area)
    if not len(total) or total[-1] <= 0 or count < 1:
        nothing = np.zeros(0, np.int64)
        return Points(np.zeros((0, 3), np.int64), np.zeros((0, 3)), np.zeros(0), nothing)
    at = np.searchsorted(total, (np.arange(count) + 0.5) / count * total[-1])
    u, v = (((np.arange(count) + 1) * ratio) % 1 for ratio in RATIOS)
    over = u + v > 1
    u, v = np.where(over, 1 - u, u), np.where(over, 1 - v, v)
    return Points(corners[at], np.column_stack([1 - u - v, u, v]), broken.face_birth[of[at]], broken.face_piece[of[at]])
