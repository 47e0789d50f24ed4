# SPDX-License-Identifier: GPL-3.0-or-later
"""Cluster colours on the screen, an overlay that follows settings, a window that stays awake."""

import time

import bpy
import stage
import window
from window import addon


def outcome():
    session = addon("preview.session").current()
    return session.outcome if session and not session.builder else None


def view_colours(w):
    """Part of the pixels that is colourful, and how many hues, in the middle of the 3D view."""
    box = (*w.inside("VIEW_3D", 0.25, 0.15), *w.inside("VIEW_3D", 0.75, 0.85))
    return window.colourfulness(window.crop(w.look(), box))


def switch(w):
    with w.context("VIEW_3D"):
        bpy.ops.pliant.preview("INVOKE_DEFAULT")


def test_colours_come_and_go(w):
    yield from stage.soft(w)
    yield from stage.look_at(w)
    part, hues = view_colours(w)
    assert part < 0.1, (part, hues)
    shading = w.area("VIEW_3D").spaces.active.shading
    before = shading.color_type
    switch(w)
    yield lambda: outcome() is not None
    yield from w.still("VIEW_3D")
    w.screenshot("clusters")
    part, hues = view_colours(w)
    assert part > 0.15 and hues >= 7, (part, hues)
    assert "Pliant Clusters" in bpy.data.objects["Suzanne"].data.attributes
    switch(w)
    yield from w.still("VIEW_3D")
    part, hues = view_colours(w)
    assert part < 0.1, (part, hues)
    assert w.area("VIEW_3D").spaces.active.shading.color_type == before
    assert "Pliant Clusters" not in bpy.data.objects["Suzanne"].data.attributes


def test_overlay_follows_its_settings(w):
    yield from stage.soft(w)
    yield from stage.look_at(w)
    settings = bpy.context.scene.pliant
    switch(w)
    yield lambda: outcome() is not None
    yield from w.still("VIEW_3D")
    both = w.look()
    settings.preview_spheres = False
    yield from w.still("VIEW_3D")
    points = w.look()
    assert window.differs(both, points) > 0.003
    settings.preview_particles = False
    yield from w.still("VIEW_3D")
    none = w.look()
    assert window.differs(points, none) > 0.003
    settings.preview_particles = settings.preview_spheres = True
    settings.preview_opacity = 1.0
    yield from w.still("VIEW_3D")
    assert window.differs(both, w.look()) > 0.003
    switch(w)
    yield 0.5


def test_contact_shapes_are_drawn(w):
    yield from stage.soft(w)
    yield from stage.look_at(w)
    settings = bpy.context.scene.pliant
    settings.preview_particles = settings.preview_spheres = settings.preview_colours = False
    switch(w)
    yield lambda: outcome() is not None
    yield from w.still("VIEW_3D")
    before = w.look()
    settings.preview_proxies = True
    yield lambda: outcome() is not None and outcome().bodies[0].proxies is not None
    yield from w.still("VIEW_3D")
    w.screenshot("contact-shapes")
    assert window.differs(before, w.look()) > 0.03
    part, hues = view_colours(w)
    assert part > 0.15 and hues >= 7, (part, hues)
    switch(w)
    yield 0.5


def test_it_follows_changes_of_the_body(w):
    yield from stage.soft(w)
    switch(w)
    yield lambda: outcome() is not None
    clusters = bpy.data.objects["Suzanne"].pliant.clusters
    clusters.count_mode = "COUNT"
    for count in (30, 35, 40):  # a slider that is dragged
        clusters.count = count
        yield 0.1
    yield lambda: outcome() is not None and 38 <= outcome().clusters <= 60
    clusters.levels = 2
    yield lambda: outcome() is not None and outcome().bodies[0].levels == 2
    session = addon("preview.session").current()
    yield lambda: not session.changed_at  # and then all is quiet
    built = outcome()
    yield 2
    assert not session.changed_at and outcome() is built
    switch(w)
    yield 0.3


def longest_pause(w, while_true):
    """longest = yield from ...: seconds between two answers of Blender as long as that is so."""
    longest, last = 0.0, time.monotonic()
    while while_true():
        for area in w.window.screen.areas:
            area.tag_redraw()
        yield 0.02
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    return longest


def test_the_window_stays_awake(w):
    yield from stage.soft(w, count=1000)
    until = time.monotonic() + 1.5
    usual = yield from longest_pause(w, lambda: time.monotonic() < until)
    bpy.data.objects["Suzanne"].pliant.particles.count = 20000
    switch(w)
    session = addon("preview.session").current()
    longest = yield from longest_pause(w, lambda: not session.builder.done)
    yield lambda: not session.builder
    assert session.outcome.particles > 15000, session.error
    assert longest < 5 * usual + 0.5, f"Blender did not answer for {longest:.1f} s, {usual:.1f} s without a preview"
    switch(w)
    yield 0.3


def test_sidebar_says_the_numbers(w):
    yield from stage.soft(w)
    yield from stage.look_at(w)
    yield from w.sidebar("Pliant")
    yield from w.press("pliant.preview", "VIEW_3D", "UI")
    yield lambda: outcome() is not None
    yield from w.still("VIEW_3D", "UI", 0.6)
    w.screenshot("sidebar")
    switch(w)
    yield 0.3


def test_the_add_on_is_switched_off_with_a_preview_on(w):
    yield from stage.soft(w)
    yield from stage.look_at(w)
    switch(w)
    yield lambda: outcome() is not None
    with w.context():
        bpy.ops.preferences.addon_disable(module=window.PACKAGE)
    yield from w.still("VIEW_3D")
    part, hues = view_colours(w)
    assert part < 0.1, (part, hues)
    assert "Pliant Clusters" not in bpy.data.objects["Suzanne"].data.attributes
    with w.context():
        bpy.ops.preferences.addon_enable(module=window.PACKAGE)
    yield 0.5
    assert bpy.data.objects["Suzanne"].pliant.role == "BODY"


def test_blender_quits_while_clusters_are_made(w):
    yield from stage.soft(w)
    bpy.data.objects["Suzanne"].pliant.particles.count = 60000
    switch(w)
    yield 0.5
    assert addon("preview.session").current().builder  # the driver quits now: a crash is seen
