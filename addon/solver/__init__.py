# SPDX-License-Identifier: GPL-3.0-or-later
"""Pliant's solver for Python: no Blender needed, only NumPy and the native library.

from solver import Scene, Shape

with Scene() as scene:
    body = scene.add_body(vertices, triangles, sample={"count": 4000})
    scene.add_collider(Shape.PLANE)
    skin = body.skin(vertices)
    for frame in range(100):
        scene.advance(dt=1 / 24)
        moved = skin.apply().vertices
"""

from ._abi import (
    PIN_HELD,
    Channel,
    Clustering,
    Compression,
    Factor,
    Falloff,
    FalloffSide,
    FieldKind,
    FieldShape,
    Goal,
    Kernel,
    LevelKind,
    Recluster,
    Rotation,
    Sampling,
    Shape,
    Shells,
    Simd,
    Stage,
    Status,
    Stiffness,
    StoreMode,
    Warning,
    Weighting,
)
from .errors import Cancelled, PliantError
from .library import LibraryError
from .scene import Body, Collider, Field, Scene, Skin, Skinned, Store, evaluate_field
