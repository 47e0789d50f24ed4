# SPDX-License-Identifier: GPL-3.0-or-later
"""Hashes of everything in a Shot that its result follows from, part by part.

Parts have names for people, so that a bake which cannot go on says what has changed. Frames have a
hash for each thing that moves: later frames may change, or be added, without touching those that
are baked.
"""
import hashlib
import itertools
from dataclasses import dataclass

import numpy as np


@dataclass
class Fingerprint:
    parts: dict  # name for a person -> hash
    inputs: list  # names for a person of what each frame has a hash for
    frames: dict  # frame number -> hashes, with spaces between

    def difference(self, other, last):
        """What differs from another fingerprint, frames up to `last` considered; None: nothing."""
        for name in [*self.parts, *other.parts]:
            if self.parts.get(name) != other.parts.get(name):
                return name
        for number in range(min(self.frames, default=0), last + 1):
            if self.frames.get(number) != other.frames.get(number):
                return f"{self._input(other, number)} at frame {number}"
        return None

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
                continue  # a collider from before surfaces could run
            digest.update(f"{key}:".encode())
            _feed(digest, value[key])
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
    """Where bodies never collide the hashes are those of bakes from before they could."""
    return any(frame.contacts is not None for frame in frames)


def _special(frames):
    """The same for surfaces of their own and for sleep."""
    return any(frame.sleep is not None or any(body.surface is not None for body in frame.bodies)
               for frame in frames)


def _breaking(frames):
    """Numbers of the bodies that may break."""
    return [index for index in range(len(frames[0].bodies) if frames else 0)
            if any(frame.bodies[index].fracture is not None for frame in frames)]


def _frame_values(frame, collide, special, breaking):
    """In the order of _frame_inputs(): for each a list of the objects that it is made of."""
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
    """For each frame its hashes. What is the very same object as in the frame before has its hash:
    most things stand still."""
    before, marks = [], []
    kinds = _collide(frames), _special(frames), _breaking(frames)
    for frame in frames:
        values = _frame_values(frame, *kinds)
        before = before or [[]] * len(values)
        marks = marks or [""] * len(values)
        marks = [mark if len(old) == len(new) and all(a is b for a, b in zip(old, new))
                 else hash_of(new[0] if len(new) == 1 else new, size=8)
                 for old, new, mark in zip(before, values, marks)]
        before = values
        yield " ".join(marks)


def fingerprint(shot):
    """Threads, compression, checkpoints and the last frame are no part of it."""
    parts = {
        "the list of bodies": hash_of([b.name for b in shot.bodies]),
        "the list of colliders": hash_of([(c.name, int(c.shape), c.inside_out)
                                          for c in shot.colliders]),
        "the list of force fields": hash_of([(f.name, int(f.kind)) for f in shot.fields]),
        "the first frame, the frame rate or the substeps": hash_of(
            shot.start, shot.fps, shot.origin, shot.substeps, shot.max_substeps),
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
        parts[f"the particles, clusters or start of '{body.name}'"] = hash_of(
            made, fixed, body.factors)
        if body.weak is not None:
            parts[f"the weak places of '{body.name}'"] = hash_of(vars(body.weak))
        if body.pattern is not None:
            parts[f"the pattern of '{body.name}'"] = hash_of(vars(body.pattern))
        parts[f"the pins of '{body.name}'"] = hash_of(
            body.pins, body.pin_frequency, body.pin_exact, body.follow_until)
    return Fingerprint(parts, _frame_inputs(shot),
                       dict(zip((frame.number for frame in shot.frames),
                                frame_hashes(shot.frames))))
