# SPDX-License-Identifier: GPL-3.0-or-later
"""Clicks, keys and pixels of the window tests themselves: what they say is what Blender sees and shows."""

import bpy
import window


def test_click_selects(w):
    cube = bpy.data.objects["Cube"]
    cube.select_set(False)
    assert not cube.select_get()
    yield 0.3
    yield from w.click(*w.inside("VIEW_3D"))
    yield lambda: bpy.data.objects["Cube"].select_get()


def test_key_opens_the_sidebar(w):
    shown = w.area("VIEW_3D").spaces.active.show_region_ui
    yield from w.move(*w.inside("VIEW_3D", 0.3, 0.7))
    yield from w.key("n")
    yield lambda: w.area("VIEW_3D").spaces.active.show_region_ui != shown
    yield from w.key("n")
    yield lambda: w.area("VIEW_3D").spaces.active.show_region_ui == shown


def test_colours_are_seen(w):
    view = w.area("VIEW_3D").spaces.active
    before = w.look()
    cube = bpy.data.objects["Cube"]
    cube.color = (1, 0, 0, 1)
    cube.scale = (3, 3, 3)
    view.shading.type, view.shading.light, view.shading.color_type = "SOLID", "FLAT", "OBJECT"
    view.overlay.show_overlays = False
    yield from w.redraw()
    yield 1
    after = w.screenshot("red-cube")
    assert after.shape == (1000, 1600, 3), after.shape
    middle = window.crop(after, (*w.inside("VIEW_3D", 0.45, 0.45), *w.inside("VIEW_3D", 0.55, 0.55)))
    window.assert_share(middle, (255, 0, 0), 0.9, tolerance=40)
    assert window.differs(before, after) > 0.02
    part, hues = window.colourfulness(middle)
    assert part > 0.9 and hues == 1, (part, hues)


def test_another_file_may_be_opened(w):
    yield from w.fresh()
    assert window.PACKAGE in bpy.context.preferences.addons
    assert tuple(bpy.data.objects["Cube"].scale) == (1, 1, 1)


def test_buttons_are_found_by_name(w):
    yield from w.sidebar("Item")
    place = yield from w.find("location", "VIEW_3D", "UI")
    left, top, right, bottom = w.box("VIEW_3D", "UI")
    assert left < place[0] < right and top < place[1] < bottom, place
    yield from w.click(*place, times=2)
    yield from w.key("ctrl+a")
    yield from w.type("1.5")
    yield from w.key("Return")
    yield lambda: 1.5 in tuple(bpy.data.objects["Cube"].location)


def test_buttons_are_scrolled_to(w):
    bpy.data.objects["Cube"].pliant.role = "BODY"
    yield from w.properties_tab("PHYSICS")
    place = w.region("PROPERTIES").view2d.region_to_view
    top = place(0, 0)[1]
    yield from w.find("frame_start", "PROPERTIES", columns=(0.7,))
    assert place(0, 0)[1] < top - 100
    yield from w.press("pliant.fit_settings", "PROPERTIES", columns=(0.7,))
    assert abs(place(0, 0)[1] - top) < 1


def test_a_button_that_is_not_there(w):
    yield from w.sidebar("Item")
    try:
        yield from w.find("pliant.bake", "VIEW_3D", "UI", columns=(0.7,))
    except AssertionError as error:
        assert "no button pliant.bake in VIEW_3D UI; there are" in str(error), error
        assert "'rotation_mode'" in str(error), error
    else:
        raise AssertionError("found all the same")
