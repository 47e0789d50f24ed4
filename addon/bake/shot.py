# SPDX-License-Identifier: GPL-3.0-or-later
"""Input of a bake as plain data, without Blender and without the library.

A Shot is captured from a scene (blender/capture/capture.py), or made by a test, and simulated by a
Job (job.py). Everything is in world space, in the scene's length units and seconds; positions are
float32 relative to Shot.origin, so that precision does not depend on the distance from the world
origin.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class BodyFrame:
    """Per-frame state of a body."""

    matrix: np.ndarray  # (4, 4) float64, object to world: results are written local to it
    material: dict  # settings for Body.set_material
    pin_vertices: np.ndarray | None = None  # the animated mesh, if it is needed
    pin_strength: float = 1.0  # factor on the pins' frequencies, 0 to 1
    contacts: tuple | None = None  # groups, self-collision: for Body.set_contacts; None: all, both
    surface: tuple | None = None  # arguments of Body.set_surface; None: those of the scene
    fracture: dict | None = None  # keywords of Body.set_fracture; None: it does not break


@dataclass
class Weak:
    """Weak places of a body, through its whole thickness."""

    factor: float  # on the toughness
    width: float  # half width of the weak zone about an edge; 0: the particles' spacing
    edges: np.ndarray  # (m, 2) int32, vertices
    group: np.ndarray | None = None  # (n,) float32, 0 to 1: how weak each vertex is


@dataclass
class Pattern:
    """Voronoi cells that a body breaks along: about given points, or a number or size of cells."""

    count: int = 0
    size: float = 0.0  # of a cell; 0: count is used
    seed: int = 0
    points: np.ndarray | None = None  # (n, 3) float32


@dataclass
class Body:
    """A soft body: its mesh at the first frame and its settings."""

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
    presettle: bool = False  # gravity compensation: it starts in equilibrium
    follow_until: int | None = None  # release frame: until then the body follows its animation
    topology: str = ""  # hash of the object's own faces: results are compared with it
    source: str = ""  # hash of the object's own mesh and of the modifiers that make this mesh from it


@dataclass
class ColliderFrame:
    position: tuple  # world, double
    rotation: tuple  # w x y z
    extent: tuple
    friction: float = 0.5
    restitution: float = 0.0
    thickness: float = 0.0
    runs: tuple | None = None  # surface velocity, spin, centre, in the pose's axes


@dataclass(eq=False)  # compared by identity: a static collider is the same object in both frames
class ColliderMeshFrame:
    vertices: np.ndarray  # (n, 3) float32
    friction: float = 0.5
    restitution: float = 0.0
    thickness: float = 0.0
    runs: tuple | None = None  # velocity, spin, centre in world space


@dataclass
class Collider:
    name: str
    shape: int  # a solver.Shape
    inside_out: bool = False
    triangles: np.ndarray | None = None  # (m, 3) uint32, of MESH and SHELL


@dataclass
class Weld:
    """Welds a body to another one, or to a collider, where they touch at the first frame."""

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
    """State of everything animated at a frame."""

    number: int
    gravity: tuple
    bodies: list  # BodyFrame for each of Shot.bodies
    colliders: list  # ColliderFrame or ColliderMeshFrame for each of Shot.colliders
    fields: list  # dict of field settings for each of Shot.fields
    contacts: dict | None = None  # keywords of Scene.set_contacts; None: bodies do not collide
    sleep: tuple | None = None  # arguments of Scene.set_sleep; None: sleep is off


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
    quick: bool = False  # with fewer particles than set, to judge the motion
    metre: float = 1.0  # length of a unit in metres, for texts: all values are in units
    warnings: list = field(default_factory=list)  # sentences on what was left out

    @property
    def pass_through(self):
        """Whether there are several bodies and they never collide."""
        return len(self.bodies) > 1 and all(frame.contacts is None for frame in self.frames)
