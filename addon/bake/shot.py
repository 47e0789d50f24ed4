# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake needs, as plain data: no Blender, no library.

A Shot is captured from a scene (blender/capture/capture.py), or made by a test, and simulated by a Job
(job.py). Everything is in world space, in metres and seconds; positions are float32 relative to
Shot.origin, so that a scene far from the world's zero loses nothing.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class BodyFrame:
    """What may change of a body from frame to frame."""

    matrix: np.ndarray  # (4, 4) float64, object to world: results are written local to it
    material: dict  # settings for Body.set_material
    pin_vertices: np.ndarray | None = None  # (n, 3) float32: the animated mesh, where it is needed
    pin_strength: float = 1.0  # factor on the pins' frequencies, 0 to 1
    contacts: tuple | None = None  # groups, with itself: for Body.set_contacts; None: all, both
    surface: tuple | None = None  # arguments of Body.set_surface; None: nothing of its own
    fracture: dict | None = None  # keywords of Body.set_fracture; None: it does not break


@dataclass
class Weak:
    """Where a body is weak: it breaks there first. Through its whole thickness, as painting goes."""

    factor: float  # on the toughness there
    width: float  # of what is about an edge; 0: the particles' spacing
    edges: np.ndarray  # (m, 2) int32, vertices
    group: np.ndarray | None = None  # (n,) float32, 0 to 1: how weak each vertex is


@dataclass
class Pattern:
    """Voronoi cells that a body breaks along: about points of its own, or as many or as large as set."""

    count: int = 0
    size: float = 0.0  # of a cell; 0: count says how many
    seed: int = 0
    points: np.ndarray | None = None  # (n, 3) float32


@dataclass
class Body:
    """A soft body: its mesh at the first frame and how it is made."""

    name: str  # the object's name
    vertices: np.ndarray  # (n, 3) float32
    triangles: np.ndarray  # (m, 3) uint32
    settings: dict  # keywords of Scene.add_body: sample, cluster, levels, material, velocity, ...
    factors: dict = field(default_factory=dict)  # e.g. "stiffness_factor": (n,) float32
    weak: Weak | None = None
    pattern: Pattern | None = None  # None: it breaks anywhere
    pins: np.ndarray | None = None  # (n,) float32, 0 to 1: how strongly each vertex is pinned
    pin_frequency: float = 0.0  # hertz at weight 1
    pin_exact: bool = False  # held, not pulled, where the weight is 1
    presettle: bool = False  # its rest shape takes up gravity: it starts in equilibrium
    follow_until: int | None = None  # the release frame: up to it the body follows its animation
    topology: str = ""  # hash of the object's own faces: results are checked against it
    source: str = ""  # hash of the object's own mesh and of the modifiers that make it this one


@dataclass
class ColliderFrame:
    position: tuple  # world, double
    rotation: tuple  # w x y z
    extent: tuple
    friction: float = 0.5
    restitution: float = 0.0
    thickness: float = 0.0
    runs: tuple | None = None  # how its surface does: velocity, spin, centre, in the pose's axes


@dataclass(eq=False)  # one that stands still is the same object in both frames
class ColliderMeshFrame:
    vertices: np.ndarray  # (n, 3) float32
    friction: float = 0.5
    restitution: float = 0.0
    thickness: float = 0.0
    runs: tuple | None = None  # velocity, spin, centre in the world


@dataclass
class Collider:
    name: str
    shape: int  # a solver.Shape
    inside_out: bool = False
    triangles: np.ndarray | None = None  # (m, 3) uint32, of MESH and SHELL


@dataclass
class Weld:
    """Sticks a body to another one, or to a collider, where they touch at the first frame."""

    body: str
    to: str
    strength: float = 0.0  # pascals; 0: it never breaks
    distance: float = 0.0  # 0: the particles' spacing


@dataclass
class Field:
    name: str
    kind: int  # a solver.FieldKind


@dataclass
class Frame:
    """Where everything that the scene moves is at a frame."""

    number: int
    gravity: tuple
    bodies: list  # BodyFrame for each of Shot.bodies
    colliders: list  # ColliderFrame or ColliderMeshFrame for each of Shot.colliders
    fields: list  # dict of field settings for each of Shot.fields
    contacts: dict | None = None  # keywords of Scene.set_contacts; None: bodies do not collide
    sleep: tuple | None = None  # arguments of Scene.set_sleep; None: bodies do not


@dataclass
class Shot:
    scene: str
    fps: float
    start: int
    end: int
    origin: tuple  # double
    bodies: list
    colliders: list = field(default_factory=list)
    fields: list = field(default_factory=list)
    welds: list = field(default_factory=list)
    frames: list = field(default_factory=list)  # Frame start, start + 1, ... as captured
    substeps: int = 0  # 0: automatic
    max_substeps: int = 32
    threads: int = 0  # 0: all cores; never changes results
    compression: bool = True
    checkpoint_every: int = 10
    quick: bool = False  # with fewer particles than asked for, to judge the motion
    metre: float = 1.0  # how long a unit of length is, for texts: all values are in that unit
    warnings: list = field(default_factory=list)  # sentences on what could not be taken over

    @property
    def pass_through(self):
        """Whether there are several bodies and they never collide."""
        return len(self.bodies) > 1 and all(frame.contacts is None for frame in self.frames)
