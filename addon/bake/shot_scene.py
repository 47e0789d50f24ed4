# SPDX-License-Identifier: GPL-3.0-or-later
"""The library's scene of a Shot: created from it or restored from a checkpoint, and updated each
frame."""

import numpy as np

from .. import solver
from . import fracture_cells, pins, toughness, volume
from .cache import CacheError

MOST_SUBSTEPS = 1000  # of a frame that a scene may allow
MARGIN = 0.4  # of the spacing: where the outermost particles of a filled body are
# what the preview tells of a body, and no reason to warn of a bake
ADVICE = solver.Warning.FLAT_CLUSTERS | solver.Warning.STIFF_BENDING | solver.Warning.LOOSE_CLUSTERS
SKIN_MARGIN = 0.2  # of the spacing: how far skins and sheets keep off


class ShotScene:
    """The bodies, colliders and fields of a shot in a solver.Scene. Warnings are added to the
    job's."""

    def __init__(self, job, scene):
        self.job, self.scene, self.shot = job, scene, job.shot
        self.bodies, self.colliders, self.fields = [], [], []
        self.pins = []  # for each body: weights of its particles, or None
        self.margin = 0.0  # see contact_margin()
        self.last = None  # the Frame that was set last

    # ------------------------------------------------------------ setting up

    def make(self):
        """Everything as in the first frame, except for pins; see hold()."""
        shot, first = self.shot, self.shot.frames[0]
        for index, body in enumerate(shot.bodies):
            self.bodies.append(self._add_body(index, body, first.bodies[index]))
        self.margin = contact_margin(self.bodies)
        if first.contacts is not None:
            self._set_contacts(first)
        for collider, state in zip(shot.colliders, first.colliders):
            self.colliders.append(self._add_collider(collider, state))
        self._set_sleep(first)
        self._set_surfaces(first, None)
        for field, state in zip(shot.fields, first.fields):
            self.fields.append(self.scene.add_field(field.kind, **state))
        self._weld()
        self.take_warnings()

    def hold(self):
        """Pins, and gravity compensation of pinned bodies: after skins are bound to the modelled
        shape."""
        first = self.shot.frames[0]
        self.weigh_pins()
        for body, made, weights, state in zip(self.shot.bodies, self.bodies, self.pins, first.bodies):
            if weights is not None:
                made.set_pins(pin_frequencies(body, weights, state.pin_strength))
        self._presettle()
        self.last = first

    def take(self):
        """Takes over a restored scene, which must match the shot."""
        shot = self.shot
        self.bodies, self.colliders = self.scene.bodies(), self.scene.colliders()
        self.margin = contact_margin(self.bodies)
        self.fields = self.scene.fields()
        found = (len(self.bodies), len(self.colliders), len(self.fields))
        wanted = (len(shot.bodies), len(shot.colliders), len(shot.fields))
        if found != wanted:
            raise CacheError(
                "The cache's checkpoint has {} bodies, {} colliders and {} fields; the scene has {}, {} and {}.".format(
                    *found, *wanted
                )
            )
        for field, known in zip(shot.fields, self.fields):
            known._desc.kind = field.kind
        self.take_warnings()

    def weigh_pins(self):
        for body, made in zip(self.shot.bodies, self.bodies):
            self.pins.append(None if body.pins is None else pins.particle_weights(made, body, self.shot.origin))

    def _presettle(self):
        """Pinned bodies start in equilibrium, except sheets, which fall into folds."""
        shot, solid = self.shot, (solver.Sampling.BLUE_NOISE, solver.Sampling.GRID)
        for body, made, weights in zip(shot.bodies, self.bodies, self.pins):
            if not body.presettle or weights is None or made.info.sampling not in solid:
                continue
            self.job.stage = f"{body.name}: pre-settle"
            share = made.balance(dt=1.0 / shot.fps, substeps=shot.substeps, max_substeps=shot.max_substeps)
            if share == 0.0 and weights.any() and any(shot.frames[0].gravity):
                self._warn(f"'{body.name}' does not start in equilibrium: its pins cannot hold it.")
            elif 0.0 < share < 0.99:
                self._warn(
                    f"'{body.name}' starts in equilibrium with {100 * share:.0f} % of its "
                    f"weight only, as it is too soft to carry more without much strain: it "
                    f"sags. Make it stiffer, or pin more of it."
                )

    def _add_body(self, index, body, state):
        job = self.job
        try:
            made, problem = volume.add_body(
                self.scene,
                body.vertices,
                body.triangles,
                state.material,
                origin=self.shot.origin,
                progress=lambda fraction, stage: job._building(index, fraction, stage),
                **body.settings,
                **body.factors,
            )
        except solver.Cancelled:
            raise
        except solver.PliantError as error:  # the library does not know the object's name
            raise solver.PliantError(error.status, f"'{body.name}': {error}") from error
        self._no_volume(body, problem)
        if body.follow_until is not None and body.follow_until > self.shot.start:
            made.set_follow(True)
        if state.fracture is not None:
            toughness.apply(made, body)
            made.set_fracture(**state.fracture)
            problem = fracture_cells.apply(made, body, state.fracture, self.shot.origin)
            self._warn(problem)
        return made

    def _add_collider(self, collider, state):
        settings = dict(vars(state), thickness=state.thickness + self.margin, **_running(state))
        del settings["runs"]
        if collider.triangles is not None:
            settings.update(triangles=collider.triangles, origin=self.shot.origin)
        try:
            return self.scene.add_collider(collider.shape, inside_out=collider.inside_out, **settings)
        except solver.PliantError as error:
            raise solver.PliantError(error.status, f"'{collider.name}': {error}") from error

    def _weld(self):
        """Welds bodies where they touch at the first frame; a restored scene has its welds already."""
        known = {body.name: made for body, made in zip(self.shot.bodies, self.bodies)}
        ends = known | {c.name: made for c, made in zip(self.shot.colliders, self.colliders)}
        for weld in self.shot.welds:
            if not self.scene.weld(known[weld.body], ends[weld.to], weld.distance, weld.strength):
                self.job.warnings.append(
                    f"'{weld.body}' does not touch '{weld.to}' at the first frame: nothing is welded."
                )

    # ------------------------------------------------------------ frames

    def advance(self, frame):
        """Simulates up to a frame."""
        shot, job = self.shot, self.job
        self._set(frame)
        self.scene.advance(
            dt=1.0 / shot.fps, substeps=shot.substeps, max_substeps=shot.max_substeps, progress=job._progress
        )
        if frame.contacts is not None:
            job._count_contacts(frame.number, self.scene.info.contacts)
        self._count_pieces(frame)
        self.last = frame

    def _count_pieces(self, frame):
        for body, made, state in zip(self.shot.bodies, self.bodies, frame.bodies):
            if state.fracture is not None:
                self.job.pieces[body.name] = made.info.pieces

    def _set(self, frame):
        """Sets the state at the end of the frame."""
        shot = self.shot
        last = self.last  # None after a restore: everything is set again
        if last is None or last.gravity != frame.gravity:
            self.scene.set_gravity(frame.gravity)
        if last is None or not _same_contacts(last, frame):
            self._set_contacts(frame)
        if last is None or last.sleep != frame.sleep:
            self._set_sleep(frame)
        self._set_surfaces(frame, last)
        for index, made in enumerate(self.bodies):
            self._set_body(index, made, frame, last.bodies[index] if last else None)
        for index, made in enumerate(self.colliders):
            state = frame.colliders[index]
            if last is None or last.colliders[index] != state:
                if shot.colliders[index].triangles is not None:
                    made.set_mesh(state.vertices, origin=shot.origin)
                else:
                    made.move(state.position, state.rotation, state.extent)
                made.set(
                    friction=state.friction,
                    restitution=state.restitution,
                    thickness=state.thickness + self.margin,
                    **_running(state),
                )
        for index, made in enumerate(self.fields):
            if last is None or last.fields[index] != frame.fields[index]:
                made.set(**frame.fields[index])

    def _set_contacts(self, frame):
        """The same calls in the same order whatever was set before, so that a resumed bake gives
        the same result."""
        on = frame.contacts is not None
        self.scene.set_contacts(**frame.contacts if on else {"enabled": 0})
        for made, state in zip(self.bodies, frame.bodies):
            made.set_contacts(*(state.contacts or () if on else ()))

    def _set_sleep(self, frame):
        self.scene.set_sleep(*frame.sleep or (0.0, 0.0))

    def _set_surfaces(self, frame, last):
        for index, (made, state) in enumerate(zip(self.bodies, frame.bodies)):
            if last is None or last.bodies[index].surface != state.surface:
                made.set_surface(*state.surface or ())

    def _set_body(self, index, made, frame, last):
        body, state, weights = self.shot.bodies[index], frame.bodies[index], self.pins[index]
        if last is None or last.material != state.material:
            self._no_volume(body, volume.set_material(made, state.material))
        if state.fracture is not None and (last is None or last.fracture != state.fracture):
            made.set_fracture(**state.fracture)
        follows = body.follow_until is not None and frame.number <= body.follow_until
        if body.follow_until is not None and not follows:
            made.set_follow(False)
        if weights is not None and (last is None or last.pin_strength != state.pin_strength):
            made.set_pins(pin_frequencies(body, weights, state.pin_strength))
        if state.pin_vertices is not None and (follows or weights is not None):
            made.set_pin_mesh(state.pin_vertices, origin=self.shot.origin)

    # ------------------------------------------------------------ warnings

    def take_warnings(self):
        """Warnings of the bodies, as sentences."""
        for body, made in zip(self.shot.bodies, self.bodies):
            for kind, sentence in made.warnings_by_kind().items():
                if kind & ADVICE:
                    continue
                if kind == solver.Warning.STIFFNESS_CUT:
                    sentence = self._substeps_warning(sentence)
                self._warn(f"{body.name}: {sentence}")

    def _substeps_warning(self, sentence):
        """Adds the name of the setting and the value to set."""
        self.job.needed_substeps = self.scene.auto_substeps(1.0 / self.shot.fps, MOST_SUBSTEPS)
        field = "Number" if self.shot.substeps else "At Most"
        share = sentence.split(" of the stiffness")[0]
        if self.job.needed_substeps >= MOST_SUBSTEPS:
            return f"{share} of the stiffness can be reached: make it softer, or add levels (Clusters)."
        return (
            f"{share} of the stiffness can be reached: set the substeps, {field}, to "
            f"{self.job.needed_substeps} (Bake and Cache), or add levels (Clusters)."
        )

    def _warn(self, sentence):
        if sentence and sentence not in self.job.warnings:
            self.job.warnings.append(sentence)

    def _no_volume(self, body, problem):
        self._warn(problem and f"'{body.name}' keeps no volume: {problem}.")


def _same_contacts(a, b):
    return a.contacts == b.contacts and (
        a.contacts is None or all(x.contacts == y.contacts for x, y in zip(a.bodies, b.bodies))
    )


def _running(state):
    """Collider keywords of a surface velocity, or of none."""
    names = ("surface_velocity", "surface_spin", "surface_centre")
    return dict(zip(names, state.runs or ((0.0, 0.0, 0.0),) * 3))


def pin_frequencies(body, weights, strength):
    """Pin frequency of each particle. Only weight 1 at full strength is held exactly."""
    frequencies = (weights * (body.pin_frequency * strength)).astype(np.float32)
    if body.pin_exact and strength >= 1.0:
        frequencies[weights >= 0.999] = solver.PIN_HELD
    return frequencies


def contact_margin(bodies):
    """Depth of the outermost particles below the mesh that they carry. Colliders stop particles, so
    they keep this much more distance: then the mesh rests on them without penetration. The
    particles of a sheet are on it, but a round collider would show through between them. The
    finest body decides, so that no body hovers."""
    filled = (solver.Sampling.BLUE_NOISE, solver.Sampling.GRID)
    return min(
        (made.info.spacing * (MARGIN if made.info.sampling in filled else SKIN_MARGIN) for made in bodies), default=0.0
    )
