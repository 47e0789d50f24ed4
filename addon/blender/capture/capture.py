# SPDX-License-Identifier: GPL-3.0-or-later
"""From Blender's evaluated scene to a Shot, a frame at a time.

    shot = capture_all(scene)                       # the command line: at once
    for number in (capturing := Capture(scene)):    # a modal operator: a few frames a tick
        ...
    shot = capturing.shot

While frames are captured, the scene's current frame moves and modifiers after the result's place
are off. release() gives both back, may be called between any two frames (before a save, say), and
is called at the end whatever happens; the next frame takes them again.

Every value is read at every frame at which Blender has evaluated anything again; the meshes of
colliders and of pinned bodies, which are large, only where that was their own. What follows from values
that are what they were is not made again, and is then the same object in both frames. Where Blender
evaluates nothing at all from one frame to the next, nothing in the scene depends on time: unless
handlers of other add-ons may change it, the frames that follow are that one.
"""
import dataclasses

import bpy
import numpy as np

from ...bake import transforms, volume
from ...bake.shot import Body, BodyFrame, Collider, Field, Frame, Shot, Weak, Weld
from ...fracture import CrackError, cut
from ...solver import Shape
from .. import meshes, modifiers, settings
from . import collider_meshes, colliders, edge_marks, fields, mesh_hash
from .refusals import CaptureError, PackageError, hidden, refuse_hidden

FARTHEST = 1e7  # metres from the world's zero that a body may be
ORIGIN_GRID = 64.0  # the origin is a multiple of this: scenes about zero have theirs there
MESH_SHAPES = {"MESH", "SHELL"}  # colliders that are felt as they are
PLIANT = __package__.rpartition(".blender.")[0]  # our own handlers are from there


def package_problem():
    """A sentence where the package that cuts meshes along cracks is missing; None: it is there."""
    try:
        cut.library()
    except CrackError as error:
        return str(error)
    return None


def bodies(scene):
    """Always in the same order: it is the order of the bodies in the cache."""
    return _with_role(scene, "BODY")


def collider_objects(scene):
    return _with_role(scene, "COLLIDER")


def _with_role(scene, role):
    return sorted((o for o in scene.objects if o.pliant.role == role), key=lambda o: o.name)


def capture(context_or_scene, **options):
    """A generator of frame numbers whose value (of StopIteration, or `yield from`) is the Shot."""
    capturing = Capture(context_or_scene, **options)
    try:
        yield from capturing
    finally:
        capturing.release()
    return capturing.shot


def capture_all(context_or_scene, **options):
    capturing = Capture(context_or_scene, **options)
    for _ in capturing:
        pass
    return capturing.shot


def set_frame(scene, number):
    """Blender evaluates everything at a frame: the dear part of capturing, and not ours."""
    scene.frame_set(number)


def view_layer_of(scene):
    context = bpy.context
    return context.view_layer if context.scene == scene else scene.view_layers[0]


class Capture:
    """An iterator of the frames that it captures. quick: part of the particles to take."""

    def __init__(self, context_or_scene, start=None, end=None, quick=None):
        scene = getattr(context_or_scene, "scene", context_or_scene)
        self._scene_name = scene.name
        first, last = settings.frame_range(scene)
        self.start = first if start is None else start
        self.end = last if end is None else end
        self.quick = quick
        self.shot = None
        self.done = 0  # frames captured
        self._number = self.start
        self._held = None  # (frame, subframe, modifiers that were switched off)
        self._guesses = {}
        self._topologies = {}  # of colliders that are meshes: their faces
        self._kept = {}  # what was read at the frame before, and what followed from it
        self._evaluated = None  # objects whose geometry is new in this frame; None: any may be
        self._updated = None  # what else is, as names of any data; None: anything may be
        self._told = []  # warnings of before there was a shot
        self._metre = settings.metres(scene)
        self._check(scene)

    # ------------------------------------------------------------ iterating

    @property
    def scene(self):
        scene = bpy.data.scenes.get(self._scene_name)
        if scene is None:
            raise CaptureError(f"The scene '{self._scene_name}' is gone.")
        return scene

    @property
    def count(self):
        return self.end - self.start + 1

    def __iter__(self):
        return self

    def __next__(self):
        if self._number > self.end:
            self.release()
            raise StopIteration
        try:
            self._capture(self._number)
        except BaseException:
            self.release()
            raise
        self._number += 1
        self.done += 1
        if self._number > self.end:
            self.release()
            volume.settle(self.shot)
        return self._number - 1

    def hold(self):
        if self._held is None:
            scene = self.scene
            switched = [(o.name, name) for o in bodies(scene) for name in modifiers.following(o)]
            self._held = (scene.frame_current, scene.frame_subframe, switched)
            self._switch(switched, False)
            self._evaluated = self._updated = None
            bpy.app.handlers.frame_change_post.append(self._note)

    def _note(self, _scene, graph=None):
        """Blender has evaluated a frame."""
        self._evaluated = self._updated = None
        if graph is not None:
            self._updated = {update.id.original.name_full for update in graph.updates}
            self._evaluated = {
                update.id.original.name for update in graph.updates
                if update.is_updated_geometry and isinstance(update.id, bpy.types.Object)}

    def _is_still(self):
        """Whether nothing has changed in the frame that was read last, nor will in the next ones."""
        foreign = [handler for name in ("frame_change_pre", "frame_change_post")
                   for handler in getattr(bpy.app.handlers, name)
                   if not getattr(handler, "__module__", "").startswith(PLIANT)]
        return self._held is not None and self.done > 1 and self._updated == set() and not foreign

    def release(self):
        """Gives back the current frame and the modifiers."""
        if self._held is None:
            return
        (frame, subframe, switched), self._held = self._held, None
        bpy.app.handlers.frame_change_post.remove(self._note)
        self._switch(switched, True)
        scene = bpy.data.scenes.get(self._scene_name)
        if scene is not None:
            scene.frame_set(frame, subframe=subframe)

    def _switch(self, switched, on):
        for object_name, modifier_name in switched:
            obj = bpy.data.objects.get(object_name)
            modifier = obj and obj.modifiers.get(modifier_name)
            if modifier:
                modifier.show_viewport = on

    # ------------------------------------------------------------ refusals

    def _check(self, scene):
        if self.end < self.start:
            raise CaptureError(f"There are no frames to bake: the bake starts at {self.start} and "
                               f"ends at {self.end}.")
        found = bodies(scene)
        if not found:
            raise CaptureError("There is no soft body in this scene: select a mesh and make it "
                               "one.")
        layer = view_layer_of(scene)
        layer.update()  # objects that a script has just linked are in it only then
        for obj in found:
            self._check_body(obj, layer)
        for obj in collider_objects(scene):
            refuse_hidden(obj, layer, "collider")
            if obj.type not in collider_meshes.MESHLIKE and obj.type != "EMPTY":
                raise CaptureError(f"The collider '{obj.name}' has no surface: it is a "
                                   f"{obj.type.lower()}.", obj.name)

    def _check_body(self, obj, layer):
        if obj.type != "MESH":
            raise CaptureError(f"'{obj.name}' is no mesh but a {obj.type.lower()}: only meshes can "
                               f"be soft bodies.", obj.name)
        refuse_hidden(obj, layer, "soft body")
        if obj.mode == "EDIT":
            raise CaptureError(f"'{obj.name}' is in edit mode: leave it (Tab) to bake.", obj.name)
        if not len(obj.data.polygons):
            what = "faces" if len(obj.data.vertices) else "vertices"
            raise CaptureError(f"'{obj.name}' has no {what}: there is nothing to be soft.",
                               obj.name)
        if self.quick is None and obj.pliant.fracture.use_fracture:
            if problem := package_problem():  # after simulating would be late
                raise PackageError(f"'{obj.name}' is to break. {problem}", obj.name)
        if left_out := modifiers.left_out(obj):
            self._told.append(f"'{obj.name}' is simulated without {left_out}, which acts on the "
                              f"result: apply it if it is part of the body.")
        if rig := modifiers.late_rig(obj):
            self._told.append(f"'{obj.name}': {rig}.")

    # ------------------------------------------------------------ capturing

    def _capture(self, number):
        if self._is_still():
            self.shot.frames.append(self._again(self.shot.frames[-1], number))
            return
        self.hold()
        scene = self.scene
        self._evaluated = self._updated = None  # until Blender says
        set_frame(scene, number)
        layer = view_layer_of(scene)
        if self.shot is None:
            for obj in bodies(scene) + collider_objects(scene):
                obj.update_tag(refresh={"OBJECT"})  # settings that a script gave are not seen else
            layer.update()
            self._begin(scene, layer.depsgraph)
        self.shot.frames.append(self._frame(scene, layer.depsgraph, number))

    def _begin(self, scene, graph):
        self.shot = Shot(scene.name, settings.frame_rate(scene), self.start, self.end,
                         self._origin(scene, graph), [], metre=self._metre, **settings.shot_settings(scene))
        if self.quick is not None:
            self.shot.quick = True
        for sentence in self._told:
            self._warn(sentence)
        self.shot.bodies = [self._body(obj, graph) for obj in bodies(scene)]
        room = max(float(np.ptp(b.vertices[:, axis])) for b in self.shot.bodies
                   for axis in range(3))
        self.shot.colliders = [self._collider(obj, graph, room) for obj in collider_objects(scene)]
        self.shot.fields = list(self._fields(scene))
        self.shot.welds = list(self._welds(scene))

    def _origin(self, scene, graph):
        places = [np.array(o.evaluated_get(graph).matrix_world)[:3, 3] for o in bodies(scene)]
        centre = np.mean(places, axis=0)
        if not np.isfinite(centre).all() or np.abs(centre).max() > FARTHEST:
            far = next(o.name for o, p in zip(bodies(scene), places)
                       if not np.isfinite(p).all() or np.abs(p).max() > FARTHEST)
            raise CaptureError(f"'{far}' is too far from the world's centre: more than "
                               f"{FARTHEST:,.0f} m.", far)
        return tuple(float(v) for v in np.round(centre / ORIGIN_GRID) * ORIGIN_GRID)

    def _body(self, obj, graph):
        evaluated = obj.evaluated_get(graph)
        mesh = self._mesh(obj, evaluated)
        self._check_same_vertices(obj, mesh)
        matrix = self._matrix(obj, evaluated, self.start)
        local = meshes.positions(mesh)
        self._check_positions(obj, local, matrix)
        faces = meshes.triangles(mesh)
        if np.linalg.det(matrix[:3, :3]) < 0:  # mirrored: outside is where it was
            faces = np.ascontiguousarray(faces[:, ::-1])
        own = obj.pliant
        body = Body(obj.name, transforms.to_simulation(local, matrix, self.shot.origin), faces,
                    settings.body(own, 1.0 if self.quick is None else self.quick),
                    topology=meshes.topology(mesh_hash.own_mesh(obj)), source=self._mark(obj))
        self._painted(obj, mesh, own, body)
        if own.fracture.use_fracture:
            self._weak(obj, mesh, own.fracture, body)
            self._pattern(obj, own.fracture, body, graph)
        if own.start.use_follow and own.start.release_frame > self.start:
            body.follow_until = own.start.release_frame
        body.presettle = settings.presettles(own)
        return body

    def _mesh(self, _obj, evaluated):
        return evaluated.data

    def _settings(self, obj, graph):
        return obj.evaluated_get(graph).pliant

    def _mark(self, obj):
        return mesh_hash.mark(obj)

    def _painted(self, obj, mesh, own, body):
        """Factors and pins from vertex groups."""
        wanted = {what: getattr(own.paint, f"{what}_group") for what in settings.PAINTED}
        if own.start.use_pins:
            if not own.start.pin_group:
                raise CaptureError(f"'{obj.name}' is to be pinned: choose the vertex group that is "
                                   f"held.", obj.name)
            wanted["pin"] = own.start.pin_group
        indices = {}
        for what, name in wanted.items():
            if name:
                group = obj.vertex_groups.get(name)
                if group is None:
                    raise CaptureError(f"'{obj.name}' has no vertex group '{name}' "
                                       f"({what.replace('_', ' ')}).", obj.name)
                indices[what] = group.index
        weights = meshes.group_weights(mesh, set(indices.values()))
        for what, index in indices.items():
            if what == "pin":
                body.pins = weights[index]
                body.pin_exact = own.start.pin_mode == "EXACT"
                body.pin_frequency = own.start.pin_frequency
                if not body.pins.any():
                    self._warn(f"No vertex of '{obj.name}' is in its pin group '{wanted[what]}': "
                               f"nothing is held.")
            else:
                zero = getattr(own.paint, f"{what}_zero")
                one = getattr(own.paint, f"{what}_one")
                body.factors[f"{what}_factor"] = \
                    (zero + (one - zero) * weights[index]).astype(np.float32)

    def _weak(self, obj, mesh, own, body):
        """Marked edges and the weak group."""
        edges, group = np.empty((0, 2), np.int32), None
        if own.seam_edges != "NONE":
            try:
                edges = edge_marks.marked(mesh, own.seam_edges, own.seam_attribute)
            except edge_marks.NoMarks as error:
                raise CaptureError(f"'{obj.name}' {error}.", obj.name) from None
            if not len(edges):
                self._warn(f"No edge of '{obj.name}' is marked to be weak.")
        if own.seam_group:
            found = obj.vertex_groups.get(own.seam_group)
            if found is None:
                raise CaptureError(f"'{obj.name}' has no vertex group '{own.seam_group}' (weak).",
                                   obj.name)
            group = meshes.group_weights(mesh, {found.index})[found.index]
        if len(edges) or group is not None:
            body.weak = Weak(own.seam_toughness, own.seam_width, edges, group)

    def _pattern(self, obj, own, body, graph):
        """The cells that it breaks along."""
        body.pattern = settings.pattern(own)
        if body.pattern is None or own.cells_from != "OBJECT":
            return
        if (problem := settings.pattern_problem(obj)) is not None:
            raise CaptureError(f"'{obj.name}' {problem}.", obj.name)
        other = own.cells_object.evaluated_get(graph)
        local, matrix = meshes.positions(other.data), np.array(other.matrix_world, np.float64)
        self._check_positions(own.cells_object, local, matrix)
        body.pattern.points = transforms.to_simulation(local, matrix, self.shot.origin)

    def _collider(self, obj, graph, room):
        evaluated, own = obj.evaluated_get(graph), obj.pliant.collider
        if own.shape in MESH_SHAPES or \
                own.shape == "AUTO" and collider_meshes.shows_collection(obj):
            return self._mesh_collider(obj, graph, own)
        if own.shape != "AUTO":
            guess = colliders.Guess(Shape[own.shape], 2)
        else:
            guess = self._guess(obj, evaluated, room)
            if guess.error > colliders.UNLIKE:
                return self._mesh_collider(obj, graph, own)
        inside_out = own.inside_out
        if inside_out and guess.shape == Shape.PLANE:
            self._warn(f"The collider '{obj.name}' is a plane, which cannot be a container.")
            inside_out = False
        self._guesses[obj.name] = guess
        return Collider(obj.name, guess.shape, inside_out)

    def _mesh_collider(self, obj, graph, own):
        if obj.type == "EMPTY" and not collider_meshes.shows_collection(obj):
            raise CaptureError(f"The collider '{obj.name}' is an empty, which has no mesh: choose a "
                               f"simple shape.", obj.name)
        try:
            triangles, self._topologies[obj.name] = collider_meshes.faces(
                obj.evaluated_get(graph), graph)
        except collider_meshes.Unusable as error:
            raise CaptureError(f"The collider '{obj.name}' {error}.", obj.name) from error
        shape = collider_meshes.shape_of(own.shape, triangles, own.inside_out)
        if shape == Shape.MESH and not collider_meshes.is_closed(triangles):
            self._warn(f"The collider '{obj.name}' is solid but not closed: what is inside is "
                       f"guessed at its holes. A Thin Shell needs no inside.")
        return Collider(obj.name, shape, triangles=triangles)

    def _guess(self, obj, evaluated, room):
        if obj.type == "EMPTY":
            return colliders.Guess(
                Shape.SPHERE if obj.empty_display_type == "SPHERE" else Shape.BOX, 2)
        parts = colliders.decompose(np.array(evaluated.matrix_world))
        mesh = evaluated.to_mesh()
        try:
            if mesh is None or not len(mesh.vertices):
                raise CaptureError(f"The collider '{obj.name}' has no vertices.", obj.name)
            points = meshes.positions(mesh).astype(np.float64)
            if not np.isfinite(points).all():
                raise CaptureError(f"The collider '{obj.name}' has vertices that are no numbers "
                                   f"(NaN).", obj.name)
            scale = parts[2] if parts else np.ones(3)
            return colliders.guess(points * scale, meshes.triangles(mesh), room)
        finally:
            evaluated.to_mesh_clear()

    def _fields(self, scene):
        if not scene.pliant.use_fields:
            return
        layer = view_layer_of(scene)
        for obj in sorted(filter(fields.is_field, scene.objects), key=lambda o: o.name):
            if hidden(obj, layer):
                self._warn(f"The force field '{obj.name}' is hidden in viewports: it has no "
                           f"effect.")
            elif (sentence := fields.refusal(obj)) is not None:
                self._warn(sentence)
            else:
                for sentence in fields.remarks(obj):
                    self._warn(sentence)
                yield Field(obj.name, fields.KINDS[obj.field.type])

    def _welds(self, scene):
        """Once for each two objects, whichever of them it is set on: the first counts."""
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
                    yield Weld(body.name, to.name, settings.pressure(own.strength, self._metre),
                               own.distance)

    def _frame(self, scene, graph, number):
        shot = self.shot
        made = Frame(
            number, self._same("gravity", settings.gravity(scene)),
            [self._body_frame(body, self._object(scene, body.name), graph, number)
             for body in shot.bodies],
            [self._collider_frame(self._object(scene, c.name), graph, number)
             for c in shot.colliders],
            [self._field_frame(self._object(scene, f.name), graph) for f in shot.fields],
            sleep=self._same("sleep", settings.sleep(scene.pliant)))
        self._contacts(made, scene, graph)
        return made

    def _again(self, frame, number):
        """A frame as the one before it. What follows its animation is released all the same."""
        states = [dataclasses.replace(state, pin_vertices=None)
                  if body.pins is None and state.pin_vertices is not None and
                  number > body.follow_until else state
                  for body, state in zip(self.shot.bodies, frame.bodies)]
        return dataclasses.replace(frame, number=number, bodies=states)

    def _contacts(self, frame, scene, graph):
        """Of bodies with each other, and of those that collide with themselves."""
        own = [self._settings(self._object(scene, body.name), graph).contacts
               for body in self.shot.bodies]
        if len(own) < 2 and not any(body.use_self for body in own):
            return
        frame.contacts = self._same("contacts", settings.contacts(scene.pliant))
        if frame.contacts is None:
            return
        states, left = settings.body_contacts(own)
        if left:
            self._warn(f"More bodies collide with no other than there are groups for them: {left} "
                       f"of them collide with each other.")
        for body, state, values in zip(self.shot.bodies, frame.bodies, states):
            state.contacts = self._same(("contacts", body.name), values)

    def _body_frame(self, body, obj, graph, number):
        evaluated = obj.evaluated_get(graph)
        matrix = self._matrix(obj, evaluated, number)
        follows = body.follow_until is not None and number <= body.follow_until
        vertices = None
        if (follows or body.pins is not None) and number > self.start:
            vertices = self._pinned_vertices(obj, evaluated, matrix)
        own = self._settings(obj, graph)
        if (refusal := settings.plastic_refusal(own)) is not None:
            raise CaptureError(f"'{obj.name}' is plastic, but {refusal}.", obj.name)
        if (refusal := settings.fracture_refusal(own)) is not None:
            raise CaptureError(f"'{obj.name}' is to break, but {refusal}.", obj.name)
        breaks = settings.fracture(own.fracture, self.start, self.shot.fps)
        material = self._same(("material", body.name),
                              settings.material(own.material, breaks is not None, self._metre))
        return BodyFrame(matrix, material, vertices,
                         self._same(("pins", body.name), own.start.pin_strength),
                         surface=self._same(("surface", body.name),
                                            settings.body_surface(own.contacts)),
                         fracture=self._same(("fracture", body.name), breaks))

    def _pinned_vertices(self, obj, evaluated, matrix):
        """The same array as before where they are what they were."""
        key = ("pinned", obj.name)
        known = self._kept.get(key)
        if known is not None and known[0] is matrix and self._evaluated is not None and \
                obj.name not in self._evaluated:
            return known[1]
        self._check_same_vertices(obj, evaluated.data)
        local = meshes.positions(evaluated.data)
        self._check_positions(obj, local, matrix)
        self._kept[key] = matrix, transforms.to_simulation(local, matrix, self.shot.origin)
        return self._kept[key][1]

    def _collider_frame(self, obj, graph, number):
        evaluated = obj.evaluated_get(graph)
        own = self._settings(obj, graph).collider
        if obj.name in self._topologies:
            return self._mesh_frame(obj, graph, own, number)
        if obj.type == "EMPTY":
            size = obj.empty_display_size
            corners = ((-size,) * 3, (size,) * 3)
        else:
            corners = tuple(map(tuple, evaluated.bound_box))
        matrix = np.array(evaluated.matrix_world)
        surface = _surface(own)
        return self._derived(("collider", obj.name), (corners, matrix.tobytes(), surface),
                             lambda: self._placed(obj, corners, matrix, surface, number))

    def _mesh_frame(self, obj, graph, own, number):
        evaluated = obj.evaluated_get(graph)
        matrix, surface = np.array(evaluated.matrix_world, np.float64), _surface(own)
        try:
            local = self._collider_vertices(obj, evaluated, graph)
        except collider_meshes.Unusable as error:
            raise CaptureError(f"The collider '{obj.name}' {error} (frame {number}).",
                               obj.name) from error
        if not np.isfinite(matrix).all():
            raise CaptureError(f"The collider '{obj.name}' has no place at frame {number}.",
                               obj.name)
        read = id(local), matrix.tobytes(), surface  # another array is made before this one goes

        def place():
            self._check_positions(obj, local, matrix)
            return collider_meshes.placed(local, matrix, self.shot.origin, surface)

        return self._derived(("collider", obj.name), read, place)

    def _collider_vertices(self, obj, evaluated, graph):
        """The same array as before where they are what they were."""
        key = ("vertices", obj.name)
        is_as_before = self._evaluated is not None and obj.name not in self._evaluated and \
            obj.type != "EMPTY"  # which shows others
        if is_as_before and key in self._kept:
            return self._kept[key][1]
        local = collider_meshes.vertices(evaluated, graph, self._topologies[obj.name])
        return self._derived(key, local.tobytes(), lambda: local)

    def _placed(self, obj, corners, matrix, surface, number):
        corners = np.array(corners, np.float64)
        state, off = colliders.place(self._guesses[obj.name], corners.min(axis=0),
                                     corners.max(axis=0), matrix, **surface)
        if state is None:
            raise CaptureError(f"The collider '{obj.name}' has zero scale or no place at frame "
                               f"{number}.", obj.name)
        if off > colliders.ROUND:
            self._warn(f"The collider '{obj.name}' is stretched or sheared in a way that a "
                       f"{self._guesses[obj.name].shape.name.lower()} cannot be: bodies feel an "
                       f"even one.")
        return state

    def _field_frame(self, obj, graph):
        evaluated = obj.evaluated_get(graph)
        return self._same(("field", obj.name), fields.parameters(
            evaluated, np.array(evaluated.matrix_world, np.float64)))

    # ------------------------------------------------------------ what stays as it was

    def _derived(self, key, read, make):
        """What make() gives, made again only where what was read is not what it was."""
        known = self._kept.get(key)
        if known is None or known[0] != read:
            known = self._kept[key] = read, make()
        return known[1]

    def _same(self, key, value):
        """The value, as the object of the frame before where that is equal."""
        return self._derived(key, value, lambda: value)

    # ------------------------------------------------------------ checks

    def _object(self, scene, name):
        obj = scene.objects.get(name)
        if obj is None:
            raise CaptureError(f"'{name}' was removed or renamed while the scene was captured.",
                               name)
        return obj

    def _matrix(self, obj, evaluated, number):
        matrix = np.array(evaluated.matrix_world, np.float64)
        return self._derived(("matrix", obj.name), matrix.tobytes(),
                             lambda: self._checked(obj, matrix, number))

    def _checked(self, obj, matrix, number):
        if not np.isfinite(matrix).all():
            raise CaptureError(f"'{obj.name}' has no place at frame {number}: its transform is not "
                               f"a number.", obj.name)
        sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
        if sizes[-1] < 1e-6 * sizes[0] or sizes[0] < 1e-12:
            raise CaptureError(f"'{obj.name}' has zero scale at frame {number}.", obj.name)
        return matrix

    def _check_same_vertices(self, obj, mesh):
        if len(mesh.vertices) != len(obj.data.vertices):
            raise CaptureError(
                f"The modifiers of '{obj.name}' change its vertices ({len(obj.data.vertices)} to "
                f"{len(mesh.vertices)}): put them after the '{modifiers.PLAYBACK_NAME}' modifier.",
                obj.name)

    def _check_positions(self, obj, local, matrix):
        if not np.isfinite(local).all():
            bad = int((~np.isfinite(local)).any(axis=1).sum())
            raise CaptureError(f"'{obj.name}' has {bad} vertices that are no numbers (NaN).",
                               obj.name)
        reach = np.abs(local).max() * np.abs(matrix[:3, :3]).max() + np.abs(matrix[:3, 3]).max()
        if reach > FARTHEST:
            raise CaptureError(f"'{obj.name}' reaches too far from the world's centre: more than "
                               f"{FARTHEST:,.0f} m.", obj.name)

    def _warn(self, sentence):
        if sentence not in self.shot.warnings:
            self.shot.warnings.append(sentence)


def _surface(own):
    runs = None
    if own.use_running:
        runs = tuple(own.surface_velocity), tuple(own.surface_spin)
    return {"friction": own.friction, "restitution": own.restitution, "thickness": own.thickness,
            "runs": runs}
