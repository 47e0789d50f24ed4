# SPDX-License-Identifier: GPL-3.0-or-later
"""Hashes of all inputs that a bake depends on, part by part.

Parts have display names, so that a bake that cannot be resumed names what has changed. Each frame
has one hash per animated input: later frames may change, or be added, without affecting the baked
ones.
"""

import enum
import hashlib
import itertools
from dataclasses import dataclass, field

import numpy as np

from ..solver import Stiffness

RATE = "the first frame, the frame rate or the substeps"

_AS_BEFORE = {-1.0: 0.0, 0.0: -1.0}  # weights of levels: 0 used to stand for the paper's value


@dataclass
class Fingerprint:
    parts: dict  # display name -> hash
    inputs: list  # display names of the inputs that each frame has a hash for
    frames: dict  # frame number -> hashes, separated by spaces
    values: dict = field(default_factory=dict)  # name of a part or input -> {setting: text}, to
    # name what has changed; of inputs at the first frame

    def difference(self, other, last):
        """The first difference from another fingerprint, frames up to `last` included; None: none."""
        for name in [*self.parts, *other.parts]:
            if self.parts.get(name) != other.parts.get(name):
                return name
        for number in range(min(self.frames, default=0), last + 1):
            if self.frames.get(number) != other.frames.get(number):
                return f"{self._input(other, number)} at frame {number}"
        return None

    def glance(self, now, number):
        """The differences from a fingerprint of the current scene at frame `number`: [(name of a
        part or input, text of the difference)]. If that frame is not in this fingerprint, only
        inputs that never change are compared."""
        found = [
            name for name in dict.fromkeys([*self.parts, *now.parts]) if self.parts.get(name) != now.parts.get(name)
        ]
        mine = {
            name: [marks.split()[index] for marks in self.frames.values()] for index, name in enumerate(self.inputs)
        }
        its = dict(zip(now.inputs, next(iter(now.frames.values())).split()))
        at = list(self.frames).index(number) if number in self.frames else None
        for name in dict.fromkeys([*mine, *its]):
            marks = mine.get(name, [""])
            is_fixed = len(set(marks)) == 1
            if name not in its and not is_fixed:
                continue  # may be animated
            before = marks[0] if is_fixed else marks[at] if at is not None else its[name]
            if before != its.get(name):
                found.append(name)
        return [(name, self._changed(now, name, mine)) for name in found]

    def _changed(self, now, name, mine):
        """The settings of a part or input that differ, as far as values are known."""
        if len(set(mine.get(name, [""]))) > 1:
            return ""
        old, new = self.values.get(name, {}), now.values.get(name, {})
        keys = [key for key in old if key in new and old[key] != new[key]]
        return ", ".join(f"{key.replace('_', ' ')} {old[key]}, now {new[key]}" for key in keys[:3])

    def _input(self, other, number):
        mine, its = (f.frames.get(number, "").split() for f in (self, other))
        names = max(self.inputs, other.inputs, key=len)
        differ = [name for name, (a, b) in zip(names, itertools.zip_longest(mine, its)) if a != b]
        return differ[0] if differ else "what happens"


def _feed(digest, value):
    if isinstance(value, np.ndarray):
        value = np.ascontiguousarray(value)
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(memoryview(value).cast("B") if value.size else b"")
    elif isinstance(value, dict):
        digest.update(b"{")
        for key in sorted(value):
            if key == "runs" and value[key] is None:
                continue  # colliders of bakes before surface velocities existed
            digest.update(f"{key}:".encode())
            _feed(digest, _AS_BEFORE.get(value[key], value[key]) if key in ("a", "b") else value[key])
        digest.update(b"}")
    elif isinstance(value, (list, tuple)):
        digest.update(b"[")
        for item in value:
            _feed(digest, item)
        digest.update(b"]")
    elif isinstance(value, (float, np.floating)):
        digest.update(float(value).hex().encode() + b";")
    elif isinstance(value, (bool, int, np.integer)):
        digest.update(b"%d;" % int(value))
    else:
        digest.update(f"{value!r};".encode())


def hash_of(*values, size=16):
    digest = hashlib.blake2b(digest_size=size)
    _feed(digest, values)
    return digest.hexdigest()


def _frame_inputs(shot):
    names = ["gravity"]
    for body in shot.bodies:
        names += [f"the material of '{body.name}'", f"the animation of '{body.name}'"]
    names += [f"the collider '{collider.name}'" for collider in shot.colliders]
    names += [f"the force field '{field.name}'" for field in shot.fields]
    if _collide(shot.frames):
        names.append("the collision of bodies")
    if _special(shot.frames):
        names.append("the surfaces or the sleep of bodies")
    names += [f"the fracture of '{shot.bodies[i].name}'" for i in _breaking(shot.frames)]
    return names


def _collide(frames):
    """If bodies never collide, hashes stay those of bakes from before collisions existed."""
    return any(frame.contacts is not None for frame in frames)


def _special(frames):
    """The same for surface properties and sleep."""
    return any(frame.sleep is not None or any(body.surface is not None for body in frame.bodies) for frame in frames)


def _breaking(frames):
    """Indices of the bodies that may break."""
    return [
        index
        for index in range(len(frames[0].bodies) if frames else 0)
        if any(frame.bodies[index].fracture is not None for frame in frames)
    ]


def _frame_values(frame, collide, special, breaking):
    """In the order of _frame_inputs(): for each input the objects that it consists of."""
    values = [[frame.gravity]]
    for body in frame.bodies:
        values += [[body.material], [body.matrix, body.pin_vertices, body.pin_strength]]
    values += [[vars(collider)] for collider in frame.colliders]
    values += [[field] for field in frame.fields]
    if collide:
        values.append([frame.contacts, *(body.contacts for body in frame.bodies)])
    if special:
        values.append([frame.sleep, *(body.surface for body in frame.bodies)])
    values += [[frame.bodies[index].fracture] for index in breaking]
    return values


def frame_hashes(frames):
    """Hashes for each frame. An input that is the same object as in the frame before keeps its
    hash, since most inputs do not change."""
    before, marks = [], []
    kinds = _collide(frames), _special(frames), _breaking(frames)
    for frame in frames:
        values = _frame_values(frame, *kinds)
        before = before or [[]] * len(values)
        marks = marks or [""] * len(values)
        marks = [
            mark
            if len(old) == len(new) and all(a is b for a, b in zip(old, new))
            else hash_of(new[0] if len(new) == 1 else new, size=8)
            for old, new, mark in zip(before, values, marks)
        ]
        before = values
        yield " ".join(marks)


def _plain(values):
    """{name: text} of settings that are numbers, names or short lists."""
    found = {}
    for key, value in values.items():
        if isinstance(value, dict):
            found.update((f"{key} {name}", text) for name, text in _plain(value).items())
        elif isinstance(value, (list, tuple)) and len(value) <= 16:
            found[key] = " ".join(map(_text, value))
        elif not isinstance(value, (np.ndarray, list, tuple)):
            found[key] = _text(value)
    return found


def _text(value):
    if isinstance(value, enum.Enum):
        return value.name.lower().replace("_", " ")
    if isinstance(value, (bool, int, np.integer)):
        return str(int(value))
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)[:64]


_PANELS = {"sample": "particles", "cluster": "clusters"}  # names as in the panels


def _in_metres(material, metre):
    """Material settings with pascals as the panels show them."""
    found = {"unit scale": metre, **material}
    for name in ("pressure", "stiffness"):
        if name == "pressure" or found.get("stiffness_kind") == Stiffness.YOUNG:
            found[name] = found.get(name, 0.0) * metre * metre
    return found


def _values(shot):
    """Fingerprint.values of a shot."""
    first = shot.frames[0]
    found = {
        "the list of bodies": {"bodies": [b.name for b in shot.bodies]},
        "the list of colliders": {"colliders": [c.name for c in shot.colliders]},
        "the list of force fields": {"fields": [f.name for f in shot.fields]},
        RATE: {
            "first frame": shot.start,
            "frame rate": shot.fps,
            "substeps": shot.substeps,
            "most substeps": shot.max_substeps,
        },
        "gravity": {"gravity": first.gravity},
        "the collision of bodies": first.contacts or {},
    }
    for body, state in zip(shot.bodies, first.bodies):
        found[f"the material of '{body.name}'"] = _in_metres(state.material, shot.metre)
        found[f"the particles, clusters or start of '{body.name}'"] = {
            _PANELS.get(key, key): value for key, value in body.settings.items()
        }
        found[f"the pins of '{body.name}'"] = {
            "pull": body.pin_frequency,
            "exact": body.pin_exact,
            "follow until": body.follow_until,
            "pre-settle": body.presettle,
        }
        found[f"the fracture of '{body.name}'"] = state.fracture or {}
    for collider, state in zip(shot.colliders, first.colliders):
        found[f"the collider '{collider.name}'"] = vars(state)
    for one, state in zip(shot.fields, first.fields):
        found[f"the force field '{one.name}'"] = state
    return {name: _plain(values) for name, values in found.items()}


def fingerprint(shot):
    """Hashes of a shot. Threads, compression, checkpoints and the last frame are not included."""
    parts = {
        "the list of bodies": hash_of([b.name for b in shot.bodies]),
        "the list of colliders": hash_of([(c.name, int(c.shape), c.inside_out) for c in shot.colliders]),
        "the list of force fields": hash_of([(f.name, int(f.kind)) for f in shot.fields]),
        RATE: hash_of(shot.start, shot.fps, shot.origin, shot.substeps, shot.max_substeps),
    }
    if shot.welds:
        parts["the welds"] = hash_of([vars(weld) for weld in shot.welds])
    for collider in shot.colliders:
        if collider.triangles is not None:
            parts[f"the faces of the collider '{collider.name}'"] = hash_of(collider.triangles)
    for body in shot.bodies:
        parts[f"the mesh of '{body.name}'"] = hash_of(body.vertices, body.triangles, body.topology)
        made = {name: value for name, value in body.settings.items() if name != "material"}
        fixed = {name: body.settings.get("material", {}).get(name) for name in ("density", "goal")}
        parts[f"the particles, clusters or start of '{body.name}'"] = hash_of(made, fixed, body.factors)
        if body.weak is not None:
            parts[f"the weak places of '{body.name}'"] = hash_of(vars(body.weak))
        if body.pattern is not None:
            parts[f"the pattern of '{body.name}'"] = hash_of(vars(body.pattern))
        parts[f"the pins of '{body.name}'"] = hash_of(
            body.pins, body.pin_frequency, body.pin_exact, body.follow_until, *(body.presettle,) * body.presettle
        )
    return Fingerprint(
        parts,
        _frame_inputs(shot),
        dict(zip((frame.number for frame in shot.frames), frame_hashes(shot.frames))),
        _values(shot) if shot.frames else {},
    )
