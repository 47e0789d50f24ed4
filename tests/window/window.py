# SPDX-License-Identifier: GPL-3.0-or-later
"""What a window test does with Blender: look, click, type, wait. README.md shows how.

Positions are pixels of the screen from its upper left corner, as in a screenshot. Clicks and keys
are sent to the screen and take the same way as a user's. A busy machine takes its time for that, so
nothing here counts on a pause being long enough: Blender is asked where it has seen the mouse, and
which button was pressed last (`_seen`), until it has.
"""

import importlib
import os
import re
import time
from pathlib import Path

import bpy
import numpy as np
import screen

PACKAGE = "bl_ext.user_default.pliant"
SHOTS = Path(os.environ.get("PWD", "."), "shots")
COLUMNS = (0.25, 0.5, 0.75)  # of a region's width: where buttons are looked for


class Skip(Exception):
    """Raised by a test that cannot be done in this Blender."""


def addon(module=""):
    """The installed add-on's package, or a module in it."""
    return importlib.import_module(PACKAGE + ("." + module if module else ""))


class PLIANT_TEST_OT_look(bpy.types.Operator):
    """Called from a script, an operator's event is the last one of the mouse or keyboard"""

    bl_idname = "pliant_test.look"
    bl_label = "Look at the Mouse"
    bl_options = {"INTERNAL"}
    seen = None

    def invoke(self, _context, event):
        PLIANT_TEST_OT_look.seen = (event.mouse_x, event.mouse_y, event.type, event.value)
        return {"CANCELLED"}


class Window:
    """Blender's first window, as a user has it."""

    def __init__(self):
        self.screen = screen.Screen()
        bpy.utils.register_class(PLIANT_TEST_OT_look)

    @property
    def window(self):
        return bpy.context.window_manager.windows[0]

    # ------------------------------------------------------------ where things are

    def area(self, kind):
        """The largest area of a kind: 'VIEW_3D', 'PROPERTIES', 'OUTLINER', 'DOPESHEET_EDITOR', ..."""
        areas = [a for a in self.window.screen.areas if a.type == kind]
        assert areas, f"no area {kind}; there are {sorted(a.type for a in self.window.screen.areas)}"
        return max(areas, key=lambda a: a.width * a.height)

    def region(self, kind, region="WINDOW"):
        return next(r for r in self.area(kind).regions if r.type == region)

    def box(self, kind, region="WINDOW"):
        """Left, top, right, bottom of a region on the screen."""
        r = self.region(kind, region)
        top = self.window.height - (r.y + r.height)
        return r.x, top, r.x + r.width, top + r.height

    def inside(self, kind, x=0.5, y=0.5, region="WINDOW"):
        """A position in a region, given as fractions of it from its upper left corner."""
        left, top, right, bottom = self.box(kind, region)
        return round(left + x * (right - left)), round(top + y * (bottom - top))

    def context(self, kind=None, region="WINDOW", **more):
        """For `with`: operators called in it act as if called from that region."""
        where = {"window": self.window, "screen": self.window.screen}
        if kind:
            where.update(area=self.area(kind), region=self.region(kind, region))
        return bpy.context.temp_override(**where, **more)

    # ------------------------------------------------------------ what a user does

    def _seen(self):
        """What Blender knows of the mouse: x, y as in `box`, the last button or key, its value."""
        with self.context():
            bpy.ops.pliant_test.look("INVOKE_DEFAULT")
        x, y, kind, value = PLIANT_TEST_OT_look.seen
        return x, self.window.height - 1 - y, kind, value

    def _until(self, reached, seconds=20):
        """Waits for what Blender sees; and then for what that does: an event is in Blender's queue
        when it is seen, and leaving a button is an event of its own before the next one is entered."""
        until = time.monotonic() + seconds
        while not reached(self._seen()):
            assert time.monotonic() < until, f"Blender sees {self._seen()} after {seconds} s"
            yield 0
        for _ in range(3):
            yield 0

    def move(self, x, y):
        """yield from window.move(x, y)"""
        self.screen.move(x, y)
        yield from self._until(lambda seen: seen[:2] == (x, y))

    def _press(self, button):
        name = {1: "LEFTMOUSE", 2: "MIDDLEMOUSE", 3: "RIGHTMOUSE"}[button]
        self.screen.down(button)
        yield from self._until(lambda seen: seen[2:] == (name, "PRESS"))

    def _release(self, button):
        name = {1: "LEFTMOUSE", 2: "MIDDLEMOUSE", 3: "RIGHTMOUSE"}[button]
        self.screen.up(button)
        yield from self._until(lambda seen: seen[2:] == (name, "RELEASE"))

    def click(self, x, y, button=1, times=1):
        """yield from window.click(x, y): left button 1, middle 2, right 3."""
        # Blender takes a press at a place where the mouse has not been seen for a drag
        yield from self.move(x - 2, y - 2)
        yield from self.move(x, y)
        for _ in range(times - 1):  # a double click is two in short time
            self.screen.down(button)
            self.screen.up(button)
        yield from self._press(button)
        yield from self._release(button)
        yield 0.2

    def drag(self, x0, y0, x1, y1, button=1):
        """yield from window.drag(...): presses at one place, lets go at another."""
        yield from self.move(x0, y0)
        yield from self._press(button)
        for step in range(1, 6):
            yield from self.move(round(x0 + (x1 - x0) * step / 5), round(y0 + (y1 - y0) * step / 5))
        yield from self._release(button)
        yield 0.2

    def key(self, *names):
        """yield from window.key("n") or ("ctrl+z", "Escape"): to the region under the mouse."""
        for name in names:
            self.screen.key(name)
            yield 0.2
        yield 0.2

    def type(self, text):
        """yield from window.type("1.5"): into a field that is being edited."""
        self.screen.type(text)
        yield 0.3

    def scroll(self, x, y, clicks):
        """yield from window.scroll(x, y, 3): down; negative: up."""
        yield from self.move(x, y)
        for _ in range(abs(clicks)):
            button = 5 if clicks > 0 else 4
            self.screen.down(button)
            self.screen.up(button)
            yield 0.05
        yield 0.2

    # ------------------------------------------------------------ finding buttons

    def _under_mouse(self, kind, region):
        """The names by which Blender knows the button under the mouse: "pliant.set_role" and
        "pliant.set_role(role='BODY')", or a property's name."""
        manager = bpy.context.window_manager
        with self.context(kind, region):
            for ask, answer in (
                (bpy.ops.ui.copy_python_command_button, r"bpy\.ops\.(([a-z0-9_.]+)\(.*\))"),
                (bpy.ops.ui.copy_data_path_button, r"(([a-z0-9_]+)(?:\[\d+\])?)$"),
            ):
                manager.clipboard = ""
                try:
                    if ask.poll() and "FINISHED" in ask():
                        said = re.search(answer, manager.clipboard)
                        if said:
                            return said[2], said[1].replace('"', "'")
                except RuntimeError:
                    pass
        return ()

    def buttons(self, kind, region="WINDOW", until=None, columns=COLUMNS, step=18):
        """places = yield from window.buttons('PROPERTIES'): what is found by moving the mouse over
        what a region shows, row by row: {"pliant.bake": (x, y), "stiffness": (x, y), ...}, the first
        place of each; stops early at a name `until`. A button is 20 pixels high."""
        yield from self.laid_out()
        left, top, right, bottom = self.box(kind, region)
        found = {}
        for column in columns:
            x = round(left + column * (right - left))
            for y in range(top + 4, bottom - 2, step):
                yield from self.move(x, y)
                names = self._under_mouse(kind, region)
                for name in names:
                    found.setdefault(name, (x, y))
                if until in names:
                    return found
        return found

    def find(self, name, kind, region="WINDOW", columns=COLUMNS):
        """place = yield from window.find("pliant.bake", 'PROPERTIES'): of an operator's or a
        property's button. Where several buttons call an operator: "pliant.set_role(role='BODY')".
        The region is scrolled to it, from where it is and then from its top; a panel that is closed
        has no buttons."""
        found = yield from self.buttons(kind, region, name, columns)
        seen = set(found)
        move = -100000
        while name not in found:
            moved = self._scroll_by(kind, region, move)
            if not moved and move > 0:
                raise AssertionError(f"no button {name} in {kind} {region}; there are {sorted(seen)}")
            left, top, right, bottom = self.box(kind, region)
            move = (bottom - top) * 3 // 4
            if moved:
                found = yield from self.buttons(kind, region, name, columns)
                seen.update(found)
        return found[name]

    def _scroll_by(self, kind, region, pixels):
        """Whether a region could be scrolled so far down."""
        view = self.region(kind, region).view2d
        before = view.region_to_view(0, 0)[1]
        with self.context(kind, region):
            if bpy.ops.view2d.pan.poll():
                bpy.ops.view2d.pan(deltay=-pixels)
        return abs(view.region_to_view(0, 0)[1] - before) > 1

    def press(self, name, kind, region="WINDOW", columns=COLUMNS):
        """yield from window.press("pliant.bake", 'VIEW_3D', "UI"): finds the button and clicks it."""
        for _ in range(5):  # panels that open slide those below them, for half a second
            x, y = yield from self.find(name, kind, region, columns)
            yield from self.move(x - 2, y - 1)
            yield from self.move(x, y)
            if name in self._under_mouse(kind, region):
                yield from self._press(1)
                yield from self._release(1)
                yield 0.2
                return
        raise AssertionError(f"the button {name} in {kind} {region} does not stay in its place")

    # ------------------------------------------------------------ arranging the screen

    def fresh(self):
        """yield from window.fresh(): an empty file in the usual layout; the add-on stays enabled."""
        with self.context():
            bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=False)
        yield 0.5

    def properties_tab(self, tab):
        """yield from window.properties_tab('PHYSICS'): needs an active object that has it."""
        self.area("PROPERTIES").spaces.active.context = tab
        self.area("PROPERTIES").tag_redraw()
        yield 0.3

    def toggle_full(self, kind):
        """yield from window.toggle_full('PROPERTIES'): an area over the whole screen, for pictures of
        panels; again: back."""
        with self.context(kind):
            bpy.ops.screen.screen_full_area()
        yield 0.6

    def sidebar(self, tab=None):
        """yield from window.sidebar("Pliant"): opens the 3D view's sidebar (N), at a tab."""
        self.area("VIEW_3D").spaces.active.show_region_ui = True
        yield lambda: self.region("VIEW_3D", "UI").width > 1
        yield 0.3
        if tab:  # a tab can be chosen only after it was drawn
            self.region("VIEW_3D", "UI").active_panel_category = tab
            self.area("VIEW_3D").tag_redraw()
            yield 0.3

    def redraw(self):
        """yield from window.redraw(): everything."""
        for area in self.window.screen.areas:
            area.tag_redraw()
        yield 0.3

    def laid_out(self):
        """yield from window.laid_out(): buttons are where the settings as they are now put them."""
        for _ in range(2):  # panels know in the second drawing how high those above them are
            for area in self.window.screen.areas:
                for region in area.regions:
                    if area.type != "VIEW_3D" or region.type != "WINDOW":  # which is dear
                        region.tag_redraw()
            for _ in range(3):
                yield 0

    def still(self, kind=None, region="WINDOW", seconds=0.3):
        """yield from window.still("VIEW_3D"): until nothing moves any more there, or at all."""
        until, since, before = time.monotonic() + 15, time.monotonic(), None
        while time.monotonic() - since < seconds and time.monotonic() < until:
            now = crop(self.look(), self.box(kind, region) if kind else (0, 0, 10000, 10000))
            if before is None or before.shape != now.shape or (before != now).any():
                since = time.monotonic()
            before = now
            yield 0.05

    # ------------------------------------------------------------ what is on the screen

    def screenshot(self, name):
        """Keeps a picture of the screen as NAME.png and returns it as an array (height, width, 3)."""
        assert re.fullmatch(r"[a-z0-9_.-]+", name, re.IGNORECASE), f"not a file name: {name}"
        SHOTS.mkdir(exist_ok=True)
        picture = self.look()
        screen.write_png(SHOTS / f"{name}.png", picture)
        return picture

    def look(self):
        """The screen as an array (height, width, 3) of bytes, kept nowhere."""
        return self.screen.picture()


# ---------------------------------------------------------------- looking at pixels


def crop(picture, box):
    """The part of a picture in a box (left, top, right, bottom)."""
    left, top, right, bottom = box
    return picture[max(0, top) : bottom, max(0, left) : right]


def share(picture, colour, tolerance=16):
    """Which part of the pixels, 0 to 1, has a colour (r, g, b; 0 to 255) within a tolerance."""
    away = np.abs(picture.astype(np.int16) - np.array(colour, np.int16)).max(axis=2)
    return float((away <= tolerance).mean())


def assert_share(picture, colour, at_least, tolerance=16):
    found = share(picture, colour, tolerance)
    assert found >= at_least, f"colour {colour} is on {found:.2%} of the pixels, not on {at_least:.2%}"


def colourfulness(picture, least_saturation=60):
    """Which part of the pixels is not grey, and how many of twelve hues are on at least 1 % of those:
    a view with cluster colours has many, Blender's own grey interface few."""
    values = picture.reshape(-1, 3).astype(np.float32)
    high, low = values.max(axis=1), values.min(axis=1)
    strong = values[high - low >= least_saturation]
    if not len(strong):
        return 0.0, 0
    high, spread = strong.max(axis=1), strong.max(axis=1) - strong.min(axis=1)
    r, g, b = strong.T
    hue = np.where(high == r, (g - b) / spread % 6, np.where(high == g, (b - r) / spread + 2, (r - g) / spread + 4))
    counts = np.bincount((hue * 2).astype(int) % 12, minlength=12)
    return len(strong) / len(values), int((counts >= 0.01 * len(strong)).sum())


def differs(before, after, threshold=8):
    """Which part of the pixels changed between two pictures."""
    away = np.abs(before.astype(np.int16) - after.astype(np.int16)).max(axis=2)
    return float((away > threshold).mean())
