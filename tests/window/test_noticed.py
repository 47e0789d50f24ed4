# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is changed after a bake is noticed without another click, and taken back by changing it back."""

import time

import bpy
import stage
from window import addon

SECONDS = 8  # that noticing may take
FREQUENCY = []  # that the body had at first


def found():
    return addon("ui.outdated").of(bpy.context.scene)


def body():
    return bpy.data.objects["Suzanne"]


def floor():
    return bpy.data.objects["Floor"]


def scene():
    return bpy.context.scene


CHANGES = {  # what is changed: (its owner, its name, another value)
    "last frame": (scene, "frame_end", 14),
    "first frame": (scene, "frame_start", 2),
    "frame rate": (lambda: scene().render, "fps", 30),
    "frame base": (lambda: scene().render, "fps_base", 1.001),
    "unit scale": (lambda: scene().unit_settings, "scale_length", 0.01),
    "gravity": (scene, "gravity", (0, 0, -5)),
    "no gravity": (scene, "use_gravity", False),
    "gravity of bodies": (lambda: scene().pliant, "use_gravity", False),
    "substeps": (lambda: scene().pliant, "max_substeps", 3),
    "fixed substeps": (lambda: scene().pliant, "substeps_mode", "FIXED"),
    "frames of its own": (lambda: scene().pliant, "use_scene_frames", False),
    "sleep": (lambda: scene().pliant, "use_sleep", False),
    "particles": (lambda: body().pliant.particles, "count", 170),
    "thickness": (lambda: body().pliant.particles, "thickness", 0.01),
    "clusters": (lambda: body().pliant.clusters, "overlap", 6),
    "levels": (lambda: body().pliant.clusters, "levels", 2),
    "goals": (lambda: body().pliant.material, "goal", "RIGID"),
    "density": (lambda: body().pliant.material, "density", 900),
    "fracture": (lambda: body().pliant.fracture, "use_fracture", True),
    "velocity": (lambda: body().pliant.start, "velocity", (1, 0, 0)),
    "friction": (lambda: floor().pliant.collider, "friction", 0.1),
    "shape of the floor": (lambda: floor().pliant.collider, "shape", "BOX"),
    "floor is none": (lambda: floor().pliant, "role", "NONE"),
    "floor moved": (floor, "location", (0, 0, -0.3)),
    "body moved": (body, "location", (0, 0, 2.5)),
}


def change(owner, name, value):
    """As a field in a panel does: Blender tells of a script's change only where the add-on asked for it."""
    setattr(owner, name, value)
    owner.id_data.update_tag()


def wait_for(changed):
    """yield from wait_for(True): until something, or nothing, is found; whether that came."""
    until = time.monotonic() + SECONDS
    while bool(found()) != changed and time.monotonic() < until:
        yield 0.05
    return bool(found()) == changed


def test_every_change_is_noticed_and_taken_back(w):
    yield from stage.soft(w, count=150, smooth=0)
    scene().frame_start, scene().frame_end = 1, 6
    yield from w.sidebar("Pliant")
    yield from w.move(*w.inside("VIEW_3D", 0.3, 0.8))
    with w.context("VIEW_3D"):
        bpy.ops.pliant.bake("INVOKE_DEFAULT")
    yield lambda: addon("blender.folders").baked_range(scene()) == (1, 6)
    yield lambda: not addon("blender.runs").any_running()
    yield 1.0
    assert found() == [], found()
    unseen, kept = [], []
    FREQUENCY.append(body().pliant.material.frequency)
    for what, (owner, name, value) in CHANGES.items():
        before = getattr(owner(), name)
        before = tuple(before) if hasattr(before, "__len__") and not isinstance(before, str) else before
        change(owner(), name, value)
        if not (yield from wait_for(True)):
            unseen.append(what)
        change(owner(), name, before)
        if not (yield from wait_for(False)):
            kept.append((what, found()))
    assert not unseen and not kept, (unseen, kept)


def test_a_number_typed_in_a_panel_is_noticed(w):
    with w.context("VIEW_3D"):
        bpy.context.view_layer.objects.active = body()
    yield from w.properties_tab("PHYSICS")
    x, y = yield from w.find("frequency", "PROPERTIES", columns=(0.7,))
    yield from w.click(x, y, times=2)
    yield from w.key("ctrl+a")
    yield from w.type("9")
    yield from w.key("Return")
    yield lambda: body().pliant.material.frequency == 9
    if not (yield from wait_for(True)):
        raise AssertionError("the frequency")
    assert "stiffness" in found()[0], found()
    w.screenshot("frequency")
    change(body().pliant.material, "frequency", FREQUENCY[0])
    if not (yield from wait_for(False)):
        raise AssertionError(found())


def test_a_vertex_moved_in_edit_mode_is_noticed(w):
    assert found() == [], found()
    with w.context("VIEW_3D"):
        bpy.context.view_layer.objects.active = body()
        body().select_set(True)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.transform.resize(value=(1.2, 1, 1))
        bpy.ops.object.mode_set(mode="OBJECT")
    assert (yield from wait_for(True))
    assert "the mesh of 'Suzanne'" in found(), found()
    with w.context("VIEW_3D"):
        bpy.ops.ed.undo_push(message="resized")
