# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as simple colliders: the best-fitting shape of a mesh, and its pose at a frame. Meshes
that no shape fits are used as they are (collider_meshes.py).

A shape is fitted in the object's own space with its scale applied, by the distance of the mesh's
surface from that of each candidate. Shape and axis are fixed for the bake; size and pose follow the
object's bounding box and matrix at each frame.
"""

from dataclasses import dataclass

import numpy as np

from ...bake import transforms
from ...bake.shot import ColliderFrame
from ...solver import Shape

FLAT = 1e-3  # thinner than this share of its size: a mesh is flat
UNLIKE = 0.03  # mean distance over size above which a shape does not fit
AREA = 0.15  # relative difference of area above which a shape does not fit
FILLED = 0.97  # a plate fills at least this share of its rectangle
ROUND = 0.05  # relative difference of radii that count as equal


@dataclass
class Guess:
    shape: Shape
    axis: int  # the object's axis that is the shape's z
    flip: bool = False  # a flat mesh that faces down this axis
    error: float = 0.0  # distance between the surfaces, over the mesh's size
    flat: bool = False  # a box with no thickness of its own


def _turn(axis):
    """A rotation whose z axis is one of the object's axes."""
    order = ((1, 2, 0), (2, 0, 1), (0, 1, 2))[axis]
    return np.eye(3)[:, order]


def decompose(matrix, axis=2):
    """Position, rotation (no reflection) and positive scales of a 4x4 matrix, in double, and the
    residual (shear); None if it is degenerate. A mirrored object keeps the direction of `axis`:
    the shapes are symmetric in the others."""
    matrix = np.asarray(matrix, np.float64)
    linear = matrix[:3, :3]
    scale = np.linalg.norm(linear, axis=0)
    gone = np.flatnonzero(scale <= 1e-9 * scale.max(initial=0.0))
    if not np.isfinite(matrix).all() or len(gone) > 1:
        return None
    axes = linear / np.where(scale > 0, scale, 1.0)
    for k in gone:  # zero scale: perpendicular to the remaining axes
        across = np.cross(axes[:, (k + 1) % 3], axes[:, (k + 2) % 3])
        axes[:, k] = across / max(np.linalg.norm(across), 1e-300)
    u, s, vt = np.linalg.svd(axes)
    rotation = u @ vt
    if np.linalg.det(rotation) < 0:
        rotation[:, (axis + 1) % 3] *= -1
    return matrix[:3, 3].copy(), rotation, scale, float(s.max() - s.min())


# ---------------------------------------------------------------- fitting a shape


def _surface_points(vertices, triangles):
    """Points on a mesh with the area each stands for: triangles' centres and edge middles."""
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normals, axis=1) / 2
    middles = (corners + corners[:, (1, 2, 0)]) / 2
    points = np.concatenate([corners.mean(axis=1), *(middles[:, k] for k in range(3))])
    return points, np.concatenate([area] * 4), normals.sum(axis=0) / 2


def _distance(shape, half, points):
    """Distances of points (shape's own axes, centre at zero) from the surface of a shape that fills
    the box of these half sizes."""
    if shape == Shape.SPHERE:
        return np.abs(np.linalg.norm(points, axis=1) - half.mean())
    if shape == Shape.BOX:
        q = np.abs(points) - half
        return np.abs(np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0))
    radius = (half[0] + half[1]) / 2
    radial = np.linalg.norm(points[:, :2], axis=1)
    if shape == Shape.CYLINDER:
        q = np.stack([radial - radius, np.abs(points[:, 2]) - half[2]], axis=1)
        return np.abs(np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0))
    beyond = np.maximum(np.abs(points[:, 2]) - max(half[2] - radius, 0), 0)
    return np.abs(np.hypot(radial, beyond) - radius)


def _area(shape, half):
    """Area of the surface of a shape that fills the box of these half sizes."""
    a, b, c = half
    radius = (a + b) / 2
    if shape == Shape.SPHERE:
        return 4 * np.pi * half.mean() ** 2
    if shape == Shape.BOX:
        return 8 * (a * b + b * c + c * a)
    if shape == Shape.CYLINDER:
        return 2 * np.pi * radius * (2 * c + radius)
    return 4 * np.pi * radius * max(c, radius)


def _flat_guess(half, normal, area, room):
    """A flat mesh: a floor if it is much larger than the bodies, otherwise a plate if it fills its
    rectangle."""
    axis = int(half.argmin())
    sides = 2 * np.sort(half)[1:]
    wide = sides[0] >= 3 * room
    if not wide and area < FILLED * sides.prod():
        return Guess(Shape.BOX, axis, error=1.0)
    return Guess(Shape.PLANE if wide else Shape.BOX, axis, bool(normal[axis] < 0), flat=not wide)


def guess(vertices, triangles, room=0.0):
    """The best-fitting shape for a mesh in the object's axes, with its scale. `room`: the size of
    the bodies, to tell a floor from a plate."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    half, centre = (high - low) / 2, (high + low) / 2
    size = float(np.linalg.norm(half))
    if size == 0 or len(triangles) == 0:
        return Guess(Shape.BOX, 2)
    points, weights, normal = _surface_points(vertices - centre, triangles)
    if half.min() < FLAT * half.max():
        return _flat_guess(half, normal, weights.sum() / 4, room)
    candidates = [(Shape.BOX, 2)]
    if half.max() - half.min() < ROUND * half.max():
        candidates.append((Shape.SPHERE, 2))
    for axis in (2, 0, 1):
        a, b, c = half @ _turn(axis)
        if abs(a - b) < ROUND * max(a, b):
            candidates.append((Shape.CYLINDER, axis))
            if c > 1.1 * max(a, b):
                candidates.append((Shape.CAPSULE, axis))
    total = weights.sum() or 1.0
    found = []
    for shape, axis in candidates:
        away = _distance(shape, half @ _turn(axis), points @ _turn(axis))
        error = float((away * weights).sum() / total / size)
        other = abs(total / 4 / _area(shape, half @ _turn(axis)) - 1) > AREA
        found.append(Guess(shape, axis, error=error + other))
    return min(found, key=lambda g: g.error)


# ---------------------------------------------------------------- pose


def running(runs, rotation, position, axes=np.eye(3), centre=np.zeros(3)):
    """Surface velocity at a frame: velocity, spin and the centre of the spin. Input (or None) is in
    the object's axes, about its origin; output in the given axes, about this centre."""
    if runs is None:
        return None
    velocity, spin = (axes.T @ (rotation @ np.asarray(value, np.float64)) for value in runs)
    pivot = axes.T @ (position - centre)
    return tuple(tuple(map(float, value)) for value in (velocity, spin, pivot))


def place(guess, low, high, matrix, runs=None, **surface):
    """A ColliderFrame for an object with this local bounding box and matrix, None if the matrix is
    degenerate; and the distance between the true shape and the one that is used."""
    parts = decompose(matrix, guess.axis)
    if parts is None:
        return None, 0.0
    position, rotation, scale, shear = parts
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    matrix = np.asarray(matrix, np.float64)
    centre = matrix[:3, :3] @ ((low + high) / 2) + position
    own = rotation
    turn = _turn(guess.axis)
    half = ((high - low) / 2 * scale) @ turn
    rotation = rotation @ turn
    if guess.flip:
        rotation = rotation @ np.diag((1.0, -1.0, -1.0))
    off = shear
    if guess.flat:
        # a plate: its top is the mesh, with thickness below so that bodies do not pass
        thickness = 0.05 * float(half[:2].min())
        half = np.array((half[0], half[1], thickness))
        centre = centre - rotation[:, 2] * thickness
    if guess.shape in (Shape.CYLINDER, Shape.CAPSULE) and half[:2].max() > 0:
        off = max(off, float(np.ptp(half[:2]) / half[:2].max()))
    elif guess.shape == Shape.SPHERE and half.max() > 0:
        off = max(off, float(np.ptp(half) / half.max()))
    return ColliderFrame(
        tuple(map(float, centre)),
        transforms.quaternion(rotation),
        extent(guess.shape, half),
        runs=running(runs, own, position, rotation, centre),
        **surface,
    ), off


def extent(shape, half):
    """The library's extent for a shape that fills a box of these half sizes."""
    radius = float(half[:2].mean())
    if shape == Shape.SPHERE:
        return (float(np.mean(half)),) * 3
    if shape == Shape.CAPSULE:
        return (radius, max(float(half[2]) - radius, 0.0), 0.0)
    if shape == Shape.CYLINDER:
        return (radius, float(half[2]), 0.0)
    if shape == Shape.PLANE:
        return (1.0, 1.0, 1.0)
    return tuple(float(v) for v in half)
