# SPDX-License-Identifier: GPL-3.0-or-later
"""Python interface of the library: objects, keyword settings, NumPy arrays, exceptions.

Names and meanings are those of pliant.h, which documents every setting, unit and default. Objects
close with `with` or close(); closing a scene closes its bodies, colliders, fields and skins. Using
a closed object raises a PliantError with Status.ERROR_STALE_HANDLE.
"""

import ctypes
import os
import weakref
from ctypes import byref, sizeof
from typing import NamedTuple

import numpy as np

from . import _abi, convert
from ._abi import Channel, Factor, Shape, Stage, Status, StoreMode, Warning
from .channels import CHANNELS
from .connectivity import broken
from .convert import float_pointer, floats, index_pointer, indices, output, plain, vector
from .errors import Progress, check
from .library import load


class Skinned(NamedTuple):
    """Result of Skin.apply; None for outputs that were not requested."""

    vertices: np.ndarray
    normals: np.ndarray | None
    velocities: np.ndarray | None


def _described(library, struct, init, settings=(), where=""):
    """A descriptor with the library's defaults and the caller's settings."""
    desc = struct()
    getattr(library, init)(byref(desc), sizeof(desc))
    convert.fill(desc, dict(settings), where)
    return desc


def _read_channel(library, function, channel, out):
    """Queries the size, then fills the buffer. function(buffer, byref(bytes)) -> status"""
    dtype, width = CHANNELS[Channel(channel)]
    size = ctypes.c_uint64()
    check(library, function(None, byref(size)))
    row = width * np.dtype(dtype).itemsize
    rows = size.value // row
    array = output(out, "out", dtype, (rows, width) if width > 1 else (rows,))
    size.value = array.nbytes
    check(library, function(array.ctypes.data_as(ctypes.c_void_p), byref(size)))
    return array


class _Object:
    """An object of the library, known by a handle."""

    _close = ""  # function that destroys it
    _settings = None  # descriptor class and its init function

    def __init__(self, library, handle, owner=None):
        self._library = library
        self._handle = handle
        self._owner = owner  # keeps the owner alive

    @classmethod
    def _existing(cls, scene, handle):
        """Wraps a handle of an existing object. The library does not report its settings: they
        start from the defaults."""
        made = cls.__new__(cls)
        _Object.__init__(made, scene._library, handle, scene)
        made._desc = _described(scene._library, *cls._settings)
        return made

    @property
    def handle(self):
        return self._handle

    def _call(self, name, *arguments):
        check(self._library, getattr(self._library, name)(self._handle, *arguments))

    def _change(self, function, settings):
        """Changes some settings; if the library refuses, all keep their values."""
        desc = type(self._desc).from_buffer_copy(self._desc)
        convert.fill(desc, settings)
        self._call(function, byref(desc))
        self._desc = desc

    def close(self):
        """Destroys it; does nothing if it, or its scene, is closed already."""
        handle, self._handle = self._handle, 0
        if handle:
            status = getattr(self._library, self._close)(handle)
            if status != Status.ERROR_STALE_HANDLE:
                check(self._library, status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __eq__(self, other):
        return type(self) is type(other) and self._handle == other._handle

    def __hash__(self):
        return hash((type(self), self._handle))


class Scene(_Object):
    """Bodies, colliders and fields that are advanced together. Settings: threads, simd, gravity."""

    _close = "pliant_scene_destroy"

    def __init__(self, *, library=None, **settings):
        library = library or load()
        desc = _described(library, _abi.SceneDesc, "pliant_scene_desc_init", settings)
        handle = ctypes.c_uint64()
        check(library, library.pliant_scene_create(byref(desc), byref(handle)))
        super().__init__(library, handle.value)
        # a scene that was not closed is destroyed with its last reference
        self._finalizer = weakref.finalize(self, library.pliant_scene_destroy, handle.value)

    def close(self):
        self._finalizer.detach()
        super().close()

    def add_body(self, vertices=None, triangles=None, **settings):
        """A body from a mesh, or from `points`; see Body."""
        return Body(self, vertices, triangles, **settings)

    def add_collider(self, shape=Shape.PLANE, **settings):
        return Collider(self, shape, **settings)

    def add_field(self, kind, **settings):
        return Field(self, kind, **settings)

    def bodies(self):
        """All bodies in order of creation. restore() makes new ones: older objects are closed."""
        return self._existing(Body, "pliant_scene_get_body", self.info.bodies)

    def colliders(self):
        return self._existing(Collider, "pliant_scene_get_collider", self.info.colliders)

    def fields(self):
        return self._existing(Field, "pliant_scene_get_field", self.info.fields)

    def _existing(self, kind, function, count):
        found = []
        for index in range(count):
            handle = ctypes.c_uint64()
            self._call(function, index, byref(handle))
            found.append(kind._existing(self, handle.value))
        return found

    @property
    def info(self):
        info = _described(self._library, _abi.SceneInfo, "pliant_scene_info_init")
        self._call("pliant_scene_get_info", byref(info))
        return plain(info)

    def set_gravity(self, gravity):
        self._call("pliant_scene_set_gravity", vector(gravity, "gravity"))

    def set_contacts(self, enabled=True, **settings):
        """Contacts of bodies with each other and with themselves; off in a new scene."""
        desc = _described(
            self._library, _abi.ContactDesc, "pliant_contact_desc_init", {"enabled": int(bool(enabled)), **settings}
        )
        self._call("pliant_scene_set_contacts", byref(desc))

    def weld(self, body, to, distance=0.0, strength=0.0):
        """Welds a body to another one, or to a collider, where they touch now. A weld breaks above
        `strength` (pascals; 0: never). Returns how many were made; info.welds: how many still
        hold."""
        ends = {"collider" if isinstance(to, Collider) else "other": to.handle}
        desc = _described(
            self._library,
            _abi.WeldDesc,
            "pliant_weld_desc_init",
            {"body": body.handle, "distance": distance, "strength": strength, **ends},
        )
        count = ctypes.c_uint32()
        self._call("pliant_scene_weld", byref(desc), byref(count))
        return count.value

    def set_sleep(self, speed, seconds=0.5):
        """Bodies sleep after `seconds` below `speed`; 0: sleep is off."""
        self._call("pliant_scene_set_sleep", speed, seconds)

    def set_threads(self, threads):
        self._call("pliant_scene_set_threads", threads)

    def advance(self, dt=None, progress=None, **settings):
        """Simulates one frame. `progress(fraction, stage)` may return true to cancel: this raises
        Cancelled, and another advance() with the same settings finishes the frame."""
        if dt is not None:
            settings["dt"] = dt
        desc = _described(self._library, _abi.FrameDesc, "pliant_frame_desc_init", settings)
        watcher = Progress(progress)
        desc.progress = watcher.callback
        watcher.finish(self._library, self._library.pliant_scene_advance(self._handle, byref(desc)))

    def cancel(self):
        """Cancels the call that is running on this scene; from any thread."""
        self._call("pliant_scene_cancel")

    def auto_substeps(self, dt, max_substeps=32):
        substeps = ctypes.c_uint32()
        self._call("pliant_scene_auto_substeps", dt, max_substeps, byref(substeps))
        return substeps.value

    def hash(self):
        value = ctypes.c_uint64()
        self._call("pliant_scene_hash", byref(value))
        return value.value

    def profile(self, reset=False):
        """Milliseconds by stage name."""
        times = (ctypes.c_double * Stage.COUNT)()
        self._call("pliant_scene_profile", times, int(reset))
        return {self._library.pliant_stage_name(stage).decode(): times[stage] for stage in range(Stage.COUNT)}

    def save(self):
        size = ctypes.c_uint64()
        self._call("pliant_scene_save", None, byref(size))
        block = ctypes.create_string_buffer(size.value)
        self._call("pliant_scene_save", block, byref(size))
        return block.raw[: size.value]

    def restore(self, block):
        """Replaces the whole scene; bodies(), colliders() and fields() then return its new
        contents."""
        block = bytes(block)
        self._call("pliant_scene_restore", block, len(block))


class Body(_Object):
    """A soft body, from a triangle mesh or from points.

    Settings: the fields of pliant_body_desc, with dicts for sample, cluster, levels and material.
    Arrays: volumes (one a point) and stiffness_factor, damping_factor, strain_limit_factor,
    density_factor, yield_factor, flow_factor, hardening_factor, toughness_factor (one a mesh vertex,
    or a point). progress(fraction, stage) may cancel.
    """

    _close = "pliant_body_destroy"
    _settings = (_abi.MaterialDesc, "pliant_material_desc_init")

    def __init__(
        self,
        scene,
        vertices=None,
        triangles=None,
        *,
        origin=None,
        points=None,
        volumes=None,
        progress=None,
        stiffness_factor=None,
        damping_factor=None,
        strain_limit_factor=None,
        density_factor=None,
        yield_factor=None,
        flow_factor=None,
        hardening_factor=None,
        toughness_factor=None,
        **settings,
    ):
        library = scene._library
        if "mesh" in settings:
            raise TypeError("the mesh is given as vertices, triangles and origin")
        desc = _described(library, _abi.BodyDesc, "pliant_body_desc_init", settings)
        keep = [_fill_mesh(desc.mesh, vertices, triangles, origin)]
        points = floats(points, "points")
        if points is not None:
            desc.point_count, desc.points = len(points), float_pointer(points)
        arrays = {"volumes": volumes}
        count = desc.point_count
        _point_to(desc, arrays, count, keep)
        factors = {
            "stiffness_factor": stiffness_factor,
            "damping_factor": damping_factor,
            "strain_limit_factor": strain_limit_factor,
            "density_factor": density_factor,
            "yield_factor": yield_factor,
            "flow_factor": flow_factor,
            "hardening_factor": hardening_factor,
            "toughness_factor": toughness_factor,
        }
        _point_to(desc, factors, count or desc.mesh.vertex_count, keep)
        watcher = Progress(progress)
        desc.progress = watcher.callback
        handle = ctypes.c_uint64()
        watcher.finish(library, library.pliant_body_create(scene.handle, byref(desc), byref(handle)))
        super().__init__(library, handle.value, scene)
        self._desc = _abi.MaterialDesc.from_buffer_copy(desc.material)

    @property
    def scene(self):
        return self._owner

    @property
    def info(self):
        info = _described(self._library, _abi.BodyInfo, "pliant_body_info_init")
        self._call("pliant_body_get_info", byref(info))
        out = plain(info)
        out.level = out.level[: info.levels]
        return out

    @property
    def warnings(self):
        """Sentences on what had to be bent to make or run the body."""
        return list(self.warnings_by_kind().values())

    def warnings_by_kind(self):
        """{Warning: sentence}."""
        text = self._library.pliant_body_warning_text(self._handle)
        kinds = Warning(self.info.warnings)
        return dict(zip((kind for kind in Warning if kind & kinds), (text or b"").decode().splitlines()))

    def read(self, channel, level=0, origin=None, out=None):
        """A channel as an array; fills `out` instead of a new array if given."""
        origin = vector(origin, "origin")
        return _read_channel(
            self._library,
            lambda buffer, size: self._library.pliant_body_read(self._handle, channel, level, origin, buffer, size),
            channel,
            out,
        )

    def positions(self, origin=None, out=None):
        return self.read(Channel.POSITION, origin=origin, out=out)

    def surface_distance(self, points, origin=None):
        """Signed distances of points (n, 3), in the rest shape, from the surface at which others
        touch it."""
        points = floats(points, "points")
        distances = np.empty(len(points), np.float32)
        self._call(
            "pliant_body_surface_distance",
            len(points),
            vector(origin, "origin"),
            float_pointer(points),
            float_pointer(distances),
        )
        return distances

    def velocities(self, out=None):
        return self.read(Channel.VELOCITY, out=out)

    def set_particles(self, positions=None, velocities=None, origin=None):
        positions, velocities = floats(positions, "positions"), floats(velocities, "velocities")
        given = positions if positions is not None else velocities
        if positions is not None and velocities is not None and len(positions) != len(velocities):
            raise ValueError(f"{len(positions)} positions, but {len(velocities)} velocities")
        self._call(
            "pliant_body_set_particles",
            0 if given is None else len(given),
            vector(origin, "origin"),
            float_pointer(positions),
            float_pointer(velocities),
        )

    def set_material(self, **settings):
        """Changes material settings; others keep the values last set through this object (a body
        from Scene.bodies() starts from the defaults)."""
        self._change("pliant_body_set_material", settings)

    def set_fracture(self, toughness, **settings):
        """Fracture settings: the fields of pliant_fracture_desc. Settings left out take their
        defaults."""
        desc = _described(
            self._library, _abi.FractureDesc, "pliant_fracture_desc_init", {"toughness": toughness, **settings}
        )
        self._call("pliant_body_set_fracture", byref(desc))

    def set_cells(self, points, origin=None):
        """Points of the Voronoi cells in the rest shape; None: as in set_fracture."""
        self._set_points("pliant_body_set_cells", "points", points, origin)

    def _set_floats(self, function, name, values, width, *before):
        values = floats(values, name, width)
        self._call(function, *before, 0 if values is None else len(values), float_pointer(values))

    def _set_points(self, function, name, points, origin):
        points = floats(points, name)
        self._call(function, 0 if points is None else len(points), vector(origin, "origin"), float_pointer(points))

    def set_factors(self, factor, values):
        """Factors, one per particle; None: all 1."""
        self._set_floats("pliant_body_set_factors", "values", values, 1, Factor(factor))

    def set_accelerations(self, accelerations):
        """Accelerations, one per particle, added to gravity; None: none."""
        self._set_floats("pliant_body_set_accelerations", "accelerations", accelerations, 3)

    def set_pins(self, frequencies):
        """Pin frequencies in hertz, one per particle; PIN_HELD holds it exactly; None: no pins."""
        self._set_floats("pliant_body_set_pins", "frequencies", frequencies, 1)

    def balance(self, dt=None, **settings):
        """Gravity compensation: the body hangs in equilibrium from its pins where it was created.
        Call it once, after set_pins and before the first frame, with the settings of
        Scene.advance. Returns the share of gravity that is balanced, 0 to 1."""
        if dt is not None:
            settings["dt"] = dt
        desc = _described(self._library, _abi.FrameDesc, "pliant_frame_desc_init", settings)
        share = ctypes.c_double()
        self._call("pliant_body_balance", byref(desc), byref(share))
        return share.value

    def set_pin_targets(self, positions, origin=None):
        self._set_points("pliant_body_set_pin_targets", "positions", positions, origin)

    def set_pin_mesh(self, vertices, origin=None):
        self._set_points("pliant_body_set_pin_mesh", "vertices", vertices, origin)

    def set_contacts(self, groups=0, self_contact=True):
        """Which bodies it collides with: those that share a bit of `groups` (0: all), and itself."""
        self._call("pliant_body_set_contacts", groups, int(bool(self_contact)))

    def set_surface(self, friction=-1.0, restitution=-1.0, thickness=-1.0):
        """Surface properties of the body; below 0: those of the scene (against colliders: of the
        collider)."""
        self._call("pliant_body_set_surface", friction, restitution, thickness)

    def set_follow(self, follow):
        self._call("pliant_body_set_follow", int(bool(follow)))

    def sample_mesh_values(self, values):
        """Values at the mesh's vertices, (n,) or (n, width), interpolated at the particles."""
        array = np.ascontiguousarray(values, dtype=np.float32)
        if array.ndim not in (1, 2):
            raise ValueError(f"'values' has shape {array.shape}, not (n,) or (n, width)")
        width = array.shape[1] if array.ndim == 2 else 1
        result = np.empty((self.info.particles, *array.shape[1:]), np.float32)
        self._call("pliant_body_sample_mesh_values", len(array), width, float_pointer(array), float_pointer(result))
        return result

    def skin(self, vertices, **settings):
        return Skin(self, vertices, **settings)


def _fill_mesh(mesh, vertices, triangles, origin):
    """Sets the pointers of a mesh descriptor; returns the arrays, to be kept alive until the call."""
    vertices, triangles = floats(vertices, "vertices"), indices(triangles, "triangles")
    if vertices is not None:
        mesh.vertex_count, mesh.vertices = len(vertices), float_pointer(vertices)
    if triangles is not None:
        mesh.triangle_count, mesh.triangles = len(triangles), index_pointer(triangles)
    if origin is not None:
        mesh.origin = vector(origin, "origin")
    return vertices, triangles


def _point_to(desc, arrays, count, keep):
    """Sets pointers of a descriptor to arrays of one float per row."""
    for name, value in arrays.items():
        array = floats(value, name, 1, count)
        if array is not None:
            setattr(desc, name, float_pointer(array))
            keep.append(array)


class Collider(_Object):
    """A simple shape, or a triangle mesh. Settings: the fields of pliant_collider_desc; position,
    rotation (w x y z) and extent stand for its pose. Shape.MESH (solid) and Shape.SHELL (two-sided)
    have no pose: they take vertices and triangles, relative to origin, and set_mesh() moves them."""

    _close = "pliant_collider_destroy"
    _settings = (_abi.ColliderDesc, "pliant_collider_desc_init")

    def __init__(
        self,
        scene,
        shape=Shape.PLANE,
        *,
        position=None,
        rotation=None,
        extent=None,
        vertices=None,
        triangles=None,
        origin=None,
        **settings,
    ):
        library = scene._library
        self._desc = _described(library, *self._settings, {"shape": shape, **settings})
        self._desc.pose = self._pose(position, rotation, extent)
        handle = ctypes.c_uint64()
        if vertices is None and triangles is None:
            check(library, library.pliant_collider_create(scene.handle, byref(self._desc), byref(handle)))
        else:
            mesh = _described(library, _abi.MeshDesc, "pliant_mesh_desc_init")
            kept = _fill_mesh(mesh, vertices, triangles, origin)
            check(
                library,
                library.pliant_collider_create_mesh(scene.handle, byref(self._desc), byref(mesh), byref(handle)),
            )
            del kept
        super().__init__(library, handle.value, scene)
        self._placed = True

    def set_mesh(self, vertices, origin=None):
        """Positions of the vertices at the end of the next frame; the count must not change."""
        vertices = floats(vertices, "vertices")
        self._call("pliant_collider_set_mesh", len(vertices), vector(origin, "origin"), float_pointer(vertices))

    def _pose(self, position, rotation, extent):
        given = {"position": position, "rotation": rotation, "extent": extent}
        pose = _abi.Pose.from_buffer_copy(self._desc.pose)
        convert.fill(pose, {k: v for k, v in given.items() if v is not None})
        return pose

    def move(self, position=None, rotation=None, extent=None):
        """Pose at the end of the next frame; what is left out is unchanged. An object from
        Scene.colliders() does not know its pose and needs all three the first time."""
        if None in (position, rotation, extent) and not getattr(self, "_placed", False):
            raise TypeError("a collider got from Scene.colliders() is first moved with position, rotation and extent")
        pose = self._pose(position, rotation, extent)
        self._call("pliant_collider_move", byref(pose))
        self._desc.pose, self._placed = pose, True

    def set(self, **settings):
        """Friction, restitution, thickness, surface_... from the next frame on."""
        self._change("pliant_collider_set", settings)


class Field(_Object):
    """A force field as Blender has it. Settings: the fields of pliant_field_desc."""

    _close = "pliant_field_destroy"
    _settings = (_abi.FieldDesc, "pliant_field_desc_init")

    def __init__(self, scene, kind, **settings):
        library = scene._library
        self._desc = _described(library, *self._settings, {"kind": kind, **settings})
        handle = ctypes.c_uint64()
        check(library, library.pliant_field_create(scene.handle, byref(self._desc), byref(handle)))
        super().__init__(library, handle.value, scene)

    def set(self, **settings):
        """Changes settings from the next frame on; the others stay."""
        self._change("pliant_field_set", settings)


def evaluate_field(kind, positions, velocities=None, *, library=None, **settings):
    """Accelerations of a field at points, as advance() uses them."""
    library = library or load()
    desc = _described(library, *Field._settings, {"kind": kind, **settings})
    positions = floats(positions, "positions")
    if velocities is None:
        velocities = np.zeros_like(positions)
    velocities = floats(velocities, "velocities", count=len(positions))
    result = np.empty_like(positions)
    check(
        library,
        library.pliant_field_evaluate(
            byref(desc), len(positions), float_pointer(positions), float_pointer(velocities), float_pointer(result)
        ),
    )
    return result


class Skin(_Object):
    """Vertices of any mesh that follow a body, or (through Store.skin) a stored body.

    Settings: normals (at rest; needed to ask for normals), triangles (of the same mesh: what hangs
    together follows one part of a body that has several), origin, radius, rebind (of a store: 0 keeps
    what vertices follow however far the body flows).
    """

    _close = "pliant_skin_destroy"

    def __init__(self, owner, vertices, *, normals=None, triangles=None, body_index=0, **settings):
        library = owner._library
        vertices = floats(vertices, "vertices")
        normals = floats(normals, "normals", count=len(vertices))
        triangles = indices(triangles, "triangles")
        desc = _described(library, _abi.SkinDesc, "pliant_skin_desc_init", settings)
        desc.vertex_count, desc.vertices = len(vertices), float_pointer(vertices)
        if normals is not None:
            desc.normals = float_pointer(normals)
        if triangles is not None and len(triangles):
            desc.triangle_count, desc.triangles = len(triangles), index_pointer(triangles)
        handle = ctypes.c_uint64()
        self._stored = isinstance(owner, Store)
        if self._stored:
            status = library.pliant_skin_create_stored(owner.handle, body_index, byref(desc), byref(handle))
        else:
            status = library.pliant_skin_create(owner.handle, byref(desc), byref(handle))
        check(library, status)
        super().__init__(library, handle.value, owner)
        self._count = len(vertices)

    def apply(self, frame=None, *, origin=None, transform=None, normals=False, velocities=False, out=None):
        """Vertex positions now, or (stored body) in a frame. transform: (3, 4), maps them from
        world space relative to origin. `out`: an array for the vertices."""
        if (frame is None) == self._stored:
            raise TypeError("a stored body's skin needs a frame, a living body's takes none")
        arrays = [
            output(array, "out", np.float32, (self._count, 3)) if wanted else None
            for wanted, array in ((True, out), (normals, None), (velocities, None))
        ]
        wanted = (vector(origin, "origin"), vector(transform, "transform", 12), *map(float_pointer, arrays))
        if self._stored:
            self._call("pliant_skin_apply_stored", frame, *wanted)
        else:
            self._call("pliant_skin_apply", *wanted)
        return Skinned(*arrays)


class Store(_Object):
    """Frames on disk. mode: a StoreMode, or "read", "create", "resume".
    Settings: compression, checkpoint_every."""

    _close = "pliant_store_close"

    def __init__(self, path, mode=StoreMode.READ, *, library=None, **settings):
        library = library or load()
        if isinstance(mode, str):
            try:
                mode = StoreMode[mode.upper()]
            except KeyError:
                names = ", ".join(repr(m.name.lower()) for m in StoreMode)
                raise ValueError(f"mode {mode!r} is none of {names}") from None
        desc = _described(library, _abi.StoreDesc, "pliant_store_desc_init", {"mode": mode, **settings})
        desc.path = os.fsencode(path)
        handle = ctypes.c_uint64()
        check(library, library.pliant_store_open(byref(desc), byref(handle)))
        super().__init__(library, handle.value)
        self._finalizer = weakref.finalize(self, library.pliant_store_close, handle.value)

    def close(self):
        self._finalizer.detach()
        super().close()

    @property
    def info(self):
        info = _described(self._library, _abi.StoreInfo, "pliant_store_info_init")
        self._call("pliant_store_get_info", byref(info))
        return plain(info)

    def write_frame(self, scene, frame):
        self._call("pliant_store_write_frame", scene.handle, frame)

    def restore(self, scene, at_most=2**31 - 1):
        """Restores the latest checkpoint at or before a frame; returns its frame."""
        frame = ctypes.c_int32()
        self._call("pliant_store_restore", scene.handle, at_most, byref(frame))
        return frame.value

    def truncate(self, frame):
        self._call("pliant_store_truncate", frame)

    def read(self, body_index, frame, channel, origin=None, out=None):
        origin = vector(origin, "origin")
        return _read_channel(
            self._library,
            lambda buffer, size: self._library.pliant_store_read(
                self._handle, body_index, frame, channel, origin, buffer, size
            ),
            channel,
            out,
        )

    def body_info(self, body_index):
        """The body in the last frame: particles, copies, clusters, pieces, splits, spacing."""
        info = _described(self._library, _abi.StoredBodyInfo, "pliant_stored_body_info_init")
        self._call("pliant_store_get_body_info", body_index, byref(info))
        return plain(info)

    def pairs(self, body_index, reach=0.0):
        """Pairs of particles that shared a cluster (n, 2), and the last frame in which they did
        (n,), infinity if they do in the last frame; only pairs whose rest distance is at most
        `reach` (0: three spacings)."""
        count = ctypes.c_uint64()
        self._call("pliant_store_read_pairs", body_index, reach, None, None, byref(count))
        pairs, until = np.empty((count.value, 2), np.uint32), np.empty(count.value)
        self._call(
            "pliant_store_read_pairs",
            body_index,
            reach,
            index_pointer(pairs),
            until.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
            byref(count),
        )
        return pairs, until

    def broken(self, body_index, origin=None, reach=0.0):
        """Connectivity history of a body on its final set of particles; see Broken."""
        return broken(self, body_index, origin, reach)

    def verify(self):
        """Verifies every file; a PliantError names the first bad one."""
        self._call("pliant_store_verify")

    def skin(self, body_index, vertices, **settings):
        return Skin(self, vertices, body_index=body_index, **settings)
