# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a scene: the Shot at its first frame, then a Frame at a time."""

import dataclasses

import numpy as np

from ...bake.shot import Field, Frame, Shot, Weld
from .. import settings
from . import fields
from .body_reader import BodyReader
from .collider_reader import ColliderReader
from .reading import FARTHEST, bodies, collider_objects, view_layer_of
from .refusals import CaptureError, hidden

ORIGIN_GRID = 64.0  # the origin is a multiple of this: scenes near zero have it at zero


class SceneReader:
    def __init__(self, reading):
        self.reading = reading
        self.bodies, self.colliders = BodyReader(reading), ColliderReader(reading)

    def begin(self, scene, graph, end, warnings=()):
        """The Shot, without frames."""
        reading = self.reading
        shot = reading.shot = Shot(
            scene.name,
            settings.frame_rate(scene),
            reading.start,
            end,
            self._origin(scene, graph),
            [],
            metre=reading.metre,
            **settings.shot_settings(scene),
        )
        if reading.quick is not None:
            shot.quick = True
        for sentence in warnings:
            reading.warn(sentence)
        shot.bodies = [self.bodies.body(obj, graph) for obj in bodies(scene)]
        room = max(float(np.ptp(b.vertices[:, axis])) for b in shot.bodies for axis in range(3))
        shot.colliders = [self.colliders.collider(obj, graph, room) for obj in collider_objects(scene)]
        shot.fields = list(self._fields(scene))
        shot.welds = list(self._welds(scene))
        return shot

    def _origin(self, scene, graph):
        known = self.reading.view.origin(scene, graph)
        if known is not None:
            return known
        places = [np.array(o.evaluated_get(graph).matrix_world)[:3, 3] for o in bodies(scene)]
        centre = np.mean(places, axis=0)
        if not np.isfinite(centre).all() or np.abs(centre).max() > FARTHEST:
            far = next(
                o.name for o, p in zip(bodies(scene), places) if not np.isfinite(p).all() or np.abs(p).max() > FARTHEST
            )
            raise CaptureError(f"'{far}' is too far from the world's centre: more than {FARTHEST:,.0f} m.", far)
        return tuple(float(v) for v in np.round(centre / ORIGIN_GRID) * ORIGIN_GRID)

    def _fields(self, scene):
        if not scene.pliant.use_fields:
            return
        layer = view_layer_of(scene)
        for obj in sorted(filter(fields.is_field, scene.objects), key=lambda o: o.name):
            if hidden(obj, layer):
                self.reading.warn(f"The force field '{obj.name}' is hidden in viewports: it has no effect.")
            elif (sentence := fields.refusal(obj)) is not None:
                self.reading.warn(sentence)
            else:
                for sentence in fields.remarks(obj):
                    self.reading.warn(sentence)
                yield Field(obj.name, fields.KINDS[obj.field.type])

    def _welds(self, scene):
        """Each pair of objects once, whichever of them it is set on: the first one counts."""
        met = set()
        for obj in bodies(scene) + collider_objects(scene):
            for own in obj.pliant.welds:
                if (problem := settings.weld_problem(obj, own.object)) is not None:
                    raise CaptureError(f"'{obj.name}' {problem}.", obj.name)
                other = self._object(scene, own.object.name)
                pair = frozenset((obj.name, other.name))
                if pair not in met:
                    met.add(pair)
                    body, to = (obj, other) if obj.pliant.role == "BODY" else (other, obj)
                    yield Weld(body.name, to.name, settings.pressure(own.strength, self.reading.metre), own.distance)

    # ------------------------------------------------------------ frames

    def frame(self, scene, graph, number):
        shot = self.reading.shot
        made = Frame(
            number,
            self.reading.same("gravity", settings.gravity(scene)),
            [self.bodies.frame(body, self._object(scene, body.name), graph, number) for body in shot.bodies],
            [self.colliders.frame(self._object(scene, c.name), graph, number) for c in shot.colliders],
            [self._field_frame(self._object(scene, f.name), graph) for f in shot.fields],
            sleep=self.reading.same("sleep", settings.sleep(scene.pliant)),
        )
        self._contacts(made, scene, graph)
        return made

    def again(self, frame, number):
        """The same values as the frame before, except that bodies are released on time."""
        states = [
            dataclasses.replace(state, pin_vertices=None)
            if body.pins is None and state.pin_vertices is not None and number > body.follow_until
            else state
            for body, state in zip(self.reading.shot.bodies, frame.bodies)
        ]
        return dataclasses.replace(frame, number=number, bodies=states)

    def _contacts(self, frame, scene, graph):
        """Collision settings between bodies, and of bodies with themselves."""
        own = [
            self.reading.view.settings(self._object(scene, body.name), graph).contacts
            for body in self.reading.shot.bodies
        ]
        if len(own) < 2 and not any(body.use_self for body in own):
            return
        frame.contacts = self.reading.same("contacts", settings.contacts(scene.pliant))
        if frame.contacts is None:
            return
        states, left = settings.body_contacts(own)
        if left:
            self.reading.warn(
                f"More bodies collide with no other body than there are groups for them: {left} of "
                "them collide with each other."
            )
        for body, state, values in zip(self.reading.shot.bodies, frame.bodies, states):
            state.contacts = self.reading.same(("contacts", body.name), values)

    def _field_frame(self, obj, graph):
        evaluated = obj.evaluated_get(graph)
        return self.reading.same(
            ("field", obj.name), fields.parameters(evaluated, np.array(evaluated.matrix_world, np.float64))
        )

    def _object(self, scene, name):
        obj = scene.objects.get(name)
        if obj is None:
            raise CaptureError(f"'{name}' was removed or renamed while the scene was captured.", name)
        return obj
