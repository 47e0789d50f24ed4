# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates the bodies of a scene in the library, to show their clusters and to estimate a bake. Runs
in its own thread; does not import bpy."""

import itertools
import math
import os
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass, field

import numpy as np

from ..bake import fracture_cells
from ..bake import process, volume
from ..bake.errors import BakeError
from ..solver import Cancelled, Channel, Compression, LibraryError, PliantError, Scene, Store
from . import palette, proxies, trial

MOST_SECONDS = 0.5  # of simulating, to measure the time per frame
SOME_FRAMES = 4  # that are simulated for that


@dataclass
class Source:
    """A body in its object's current state."""

    name: str
    vertices: np.ndarray  # (n, 3) float32, world, relative to origin
    triangles: np.ndarray
    settings: dict  # keywords of Scene.add_body
    matrix: object = None  # the object's matrix
    key: str = ""  # equal for bodies with equal results
    pattern: object = None  # shot.Pattern that it breaks along


@dataclass
class Request:
    sources: list
    origin: tuple = (0.0, 0.0, 0.0)
    level: int = 0
    fps: float = 24.0
    frames: int = 250
    gravity: tuple = (0.0, 0.0, -9.81)
    substeps: int = 0
    max_substeps: int = 32
    threads: int = 0
    compression: bool = True
    checkpoint_every: int = 10
    proxies: bool = False  # also compute the contact shapes
    sample: object = None  # trial.Sample: the first frames as a bake has them, for a trial bake
    reading: float = 0.0  # seconds a frame, from an earlier trial ...
    cutting: float = 0.0  # ... seconds in all
    dearer: float = 1.0  # ... and the factor by which its frames took longer than those of the bodies alone
    cells: bool = False  # colour by the cells that a body breaks along, if it does


@dataclass
class Proxies:
    """Contact shapes of the finest clusters, at rest."""

    centres: np.ndarray  # (c, 3)
    radii: np.ndarray  # (c,)
    reach: np.ndarray  # (c, directions) from the centre
    visible: np.ndarray  # (c, triangles)
    colours: np.ndarray  # (c, 3) sRGB


@dataclass
class Shown:
    """What is drawn of a body; positions are relative to the request's origin."""

    name: str
    matrix: object
    level: int
    levels: int
    particles: np.ndarray  # (n, 3)
    particle_colours: np.ndarray  # (n, 3) sRGB
    centres: np.ndarray  # (c, 3)
    radii: np.ndarray  # (c,)
    colours: np.ndarray  # (c, 3) sRGB
    vertex_colours: np.ndarray  # (v, 4) linear
    spacing: float
    level_clusters: list
    memberships: int
    warnings: list
    proxies: Proxies | None = None
    serial: int = field(default_factory=itertools.count(1).__next__)  # identifies the drawn state


@dataclass
class Outcome:
    bodies: list = field(default_factory=list)
    errors: dict = field(default_factory=dict)  # object's name -> sentence
    origin: tuple = (0.0, 0.0, 0.0)
    memory: int = 0  # of the whole process
    disk: int = 0  # the whole bake; 0: unknown
    frame_seconds: float = 0.0  # of simulating and writing one; 0: unknown
    setup_seconds: float = 0.0  # of making bodies
    reading: float = 0.0  # seconds a frame
    cutting: float = 0.0  # seconds of cutting along cracks, if bodies break
    dearer: float = 1.0  # factor by which frames take longer than those of the bodies alone
    substeps: int = 0
    frames: int = 0

    @property
    def particles(self):
        return sum(len(body.particles) for body in self.bodies)

    @property
    def clusters(self):
        return sum(sum(body.level_clusters) for body in self.bodies)

    @property
    def memberships(self):
        return sum(body.memberships for body in self.bodies)

    @property
    def seconds(self):
        """Seconds of a whole bake: reading, creating bodies, simulating, writing and cutting."""
        return self.setup_seconds + (self.frame_seconds + self.reading) * self.frames + self.cutting


def build(request, progress=None):
    """The Outcome. progress(fraction, stage) may return true to cancel: Cancelled is raised."""
    outcome = Outcome(
        origin=request.origin,
        frames=request.frames,
        reading=request.reading,
        cutting=request.cutting,
        dearer=request.dearer,
    )
    began = time.perf_counter()
    with Scene(threads=request.threads, gravity=request.gravity) as scene:
        made = []
        for index, source in enumerate(request.sources):

            def share(fraction, stage, index=index):
                whole = (index + fraction) / (len(request.sources) + 1)
                return progress(whole, stage) if progress else False

            try:
                body, problem = volume.add_body(
                    scene, source.vertices, source.triangles, origin=request.origin, progress=share, **source.settings
                )
                outcome.bodies.append(_show(body, source, request))
                if request.cells and source.pattern is not None:
                    _colour_cells(body, source, request, outcome.bodies[-1])
                if problem:
                    outcome.bodies[-1].warnings.append(f"keeps no volume: {problem}")
                made.append((body, source))
            except Cancelled:
                raise
            except (PliantError, TypeError, ValueError) as error:
                outcome.errors[source.name] = f"{source.name}: {error}"
        outcome.setup_seconds = time.perf_counter() - began
        if made:
            try:
                _estimate(scene, made, request, outcome, progress)
                _try(request, outcome, progress)
            except Cancelled:
                if progress and progress(1.0, "estimating"):
                    raise
            except (PliantError, BakeError, OSError) as error:
                outcome.errors["the estimate"] = str(error)
    return outcome


def _try(request, outcome, progress):
    """Times with colliders, contacts, pins and fields, if there is a sample."""
    if request.sample is None or not outcome.frame_seconds:
        return
    outcome.reading, outcome.cutting = request.sample.reading, request.sample.cutting
    outcome.setup_seconds += request.sample.first
    pace = trial.pace(request.sample, lambda: bool(progress and progress(0.97, "estimating")))
    outcome.memory = process.memory() or outcome.memory
    if pace:
        outcome.dearer = pace / (outcome.frame_seconds / request.dearer)
        outcome.frame_seconds = pace


def _show(body, source, request):
    info = body.info
    level = min(request.level, info.levels - 1)
    centres = body.read(Channel.CLUSTER_CENTRE, level, origin=request.origin)
    radii = body.read(Channel.CLUSTER_RADIUS, level)
    colours = palette.colour_clusters(centres)[palette.twins(centres, 0.03 * radii)]
    of_particles = body.read(Channel.NEAREST_CLUSTER, level)
    vertex_colours = np.ones((len(source.vertices), 4), np.float32)
    vertex_colours[:, :3] = palette.linear_from_srgb(colours[palette.nearest(source.vertices, centres)])
    return Shown(
        name=source.name,
        matrix=source.matrix,
        level=level,
        levels=info.levels,
        particles=body.positions(origin=request.origin),
        particle_colours=colours[of_particles],
        centres=centres,
        radii=radii,
        colours=colours,
        vertex_colours=vertex_colours,
        spacing=info.spacing,
        level_clusters=[entry.clusters for entry in info.level],
        memberships=sum(entry.memberships for entry in info.level),
        warnings=body.warnings,
        proxies=_proxies(body, request, colours if level == 0 else None),
    )


def _colour_cells(body, source, request, shown):
    """Colours by cell instead of by cluster."""
    points = fracture_cells.points_of(body, source.pattern, {"toughness": math.inf}, request.origin)
    body.set_fracture(math.inf)
    body.set_cells(points, origin=request.origin)
    of_particles = body.read(Channel.CELL)
    used, of_particles = np.unique(of_particles, return_inverse=True)
    colours = palette.colour_clusters(points[used])
    shown.particle_colours = colours[of_particles]
    shown.vertex_colours[:, :3] = palette.linear_from_srgb(colours[palette.nearest(source.vertices, points[used])])


def _proxies(body, request, colours):
    if not request.proxies:
        return None
    centres = body.read(Channel.CLUSTER_CENTRE, origin=request.origin)
    radii = body.read(Channel.CLUSTER_RADIUS)
    if colours is None:
        colours = palette.colour_clusters(centres)
    some = centres[: proxies.MOST], radii[: proxies.MOST]
    reach = proxies.reach(*some, lambda points: body.surface_distance(points, origin=request.origin))
    return Proxies(centres, radii, reach, proxies.visible(*some, reach), colours)


def _estimate(scene, made, request, outcome, progress):
    """Simulates some frames, at most for half a second, and writes two: the cost of a bake of the
    bodies alone."""
    dt = 1 / request.fps
    outcome.substeps = request.substeps or scene.auto_substeps(dt, request.max_substeps)
    began = time.perf_counter()
    reached = [0.0]

    def watch(fraction, stage):
        reached[0] = fraction
        if progress and progress(0.95, "estimating"):
            return True
        return fraction > 0 and time.perf_counter() - began > MOST_SECONDS

    done = 0
    try:
        while done < SOME_FRAMES and time.perf_counter() - began < MOST_SECONDS:
            reached[0] = 0.0
            scene.advance(dt=dt, progress=watch, substeps=request.substeps, max_substeps=request.max_substeps)
            done += 1
    except Cancelled:
        if progress and progress(0.95, "estimating"):
            raise
    simulated = (time.perf_counter() - began) / max(done + reached[0] * (done < SOME_FRAMES), 1e-3)
    outcome.frame_seconds = simulated * request.dearer
    began = time.perf_counter()
    for body, source in made:
        with body.skin(source.vertices, triangles=source.triangles, origin=request.origin) as skin:
            bound = time.perf_counter()
            skin.apply()
            began += bound - began  # binding happens once a bake, applying once a frame
    skinned = time.perf_counter() - began
    written, frame_bytes, checkpoint_bytes = _write_once(scene, request)
    outcome.frame_seconds = (simulated + skinned + written) * request.dearer
    outcome.memory = process.memory() or scene.info.bytes
    vertices = sum(len(source.vertices) for _, source in made)
    checkpoints = -(-request.frames // request.checkpoint_every)
    outcome.disk = request.frames * (frame_bytes + 12 * vertices) + checkpoints * checkpoint_bytes


def _write_once(scene, request):
    """Seconds and bytes of a frame in the store, and the bytes of a checkpoint."""
    compression = Compression.ZSTD if request.compression else Compression.NONE
    with tempfile.TemporaryDirectory(prefix="pliant-preview-") as folder:
        path = os.path.join(folder, "frames")
        try:
            store = Store(path, "create", compression=compression, checkpoint_every=2)
        except PliantError:  # a library without compression
            store = Store(path, "create", compression=Compression.NONE, checkpoint_every=2)
        with store:
            sizes, seconds = [], 0.0
            for frame in range(3):
                began = time.perf_counter()
                if not scene.info.substep_of_frame:
                    store.write_frame(scene, frame)
                seconds = time.perf_counter() - began
                sizes.append(store.info.bytes)
    steps = [sizes[0], sizes[1] - sizes[0], sizes[2] - sizes[1]]
    frame_bytes = min(steps)
    return seconds, frame_bytes, max(0, max(steps) - frame_bytes)


_living = weakref.WeakSet()  # builders that were started, including cancelled ones


def stop_all(seconds=10.0):
    """Cancels every build and waits: no thread may outlive the interpreter."""
    for builder in list(_living):
        builder.cancel()
    until = time.monotonic() + seconds
    for builder in list(_living):
        builder.wait(max(0.0, until - time.monotonic()))


class Builder:
    """A build in a thread. cancel() answers within a substep; when done, there is an outcome or an
    error."""

    def __init__(self, request):
        self.request = request
        self.outcome = None
        self.error = ""
        self.fraction = 0.0
        self.stage = ""
        self.cancelled = False
        self._thread = threading.Thread(target=self._run, name="pliant-preview", daemon=True)

    def start(self):
        _living.add(self)
        self._thread.start()
        return self

    def cancel(self):
        self.cancelled = True

    @property
    def done(self):
        return not self._thread.is_alive()

    def wait(self, seconds=None):
        self._thread.join(seconds)

    def _progress(self, fraction, stage):
        self.fraction, self.stage = fraction, stage
        return self.cancelled

    def _run(self):
        try:
            self.outcome = build(self.request, self._progress)
        except Cancelled:
            self.cancelled = True
        except (PliantError, LibraryError, OSError, MemoryError) as error:
            self.error = str(error) or type(error).__name__
        except Exception as error:  # every exception must reach the panel
            self.error = f"{type(error).__name__}: {error}"
