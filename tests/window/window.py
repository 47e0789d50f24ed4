# SPDX-License-Identifier: GPL-3.0-or-later
"""What a window test does with Blender: look, click, type, wait. README.md shows how.

Positions are pixels of the screen from its upper left corner, as in a screenshot. Clicks and keys
are sent by xdotool: they take the same way as a user's.
"""
import contextlib
import importlib
import os
import re
import subprocess
from pathlib import Path

import bpy
import numpy as np

PACKAGE = "bl_ext.user_default.pliant"
SHOTS = Path(os.environ.get("PWD", "."), "shots")


class Skip(Exception):
    """Raised by a test that cannot be done in this Blender."""


def addon(module=""):
    """The installed add-on's package, or a module in it."""
    return importlib.import_module(PACKAGE + ("." + module if module else ""))


class Window:
    """Blender's first window, as a user has it."""

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

    def inside(self, kind, x=.5, y=.5, region="WINDOW"):
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

    def _xdotool(self, *arguments):
        subprocess.run(["xdotool", *map(str, arguments)], check=True, timeout=20)

    def move(self, x, y):
        """yield from window.move(x, y)"""
        self._xdotool("mousemove", x, y)
        yield .15

    def click(self, x, y, button=1, times=1):
        """yield from window.click(x, y): left button 1, middle 2, right 3."""
        # Blender takes a press at a place where the mouse has not been seen for a drag
        self._xdotool("mousemove", x - 2, y - 2)
        yield .15
        self._xdotool("mousemove", x, y)
        yield .15
        for _ in range(times):
            self._xdotool("mousedown", button)
            yield .08
            self._xdotool("mouseup", button)
            yield .08
        yield .3

    def drag(self, x0, y0, x1, y1, button=1):
        """yield from window.drag(...): presses at one place, lets go at another."""
        yield from self.move(x0, y0)
        self._xdotool("mousedown", button)
        for step in range(1, 6):
            yield .08
            self._xdotool("mousemove", round(x0 + (x1 - x0) * step / 5),
                          round(y0 + (y1 - y0) * step / 5))
        yield .1
        self._xdotool("mouseup", button)
        yield .3

    def key(self, *names):
        """yield from window.key("n") or ("ctrl+z", "Escape"): to the region under the mouse."""
        for name in names:
            self._xdotool("key", name)
            yield .2
        yield .2

    def type(self, text):
        """yield from window.type("1.5"): into a field that is being edited."""
        self._xdotool("type", "--delay", 40, text)
        yield .3

    def scroll(self, x, y, clicks):
        """yield from window.scroll(x, y, 3): down; negative: up."""
        yield from self.move(x, y)
        for _ in range(abs(clicks)):
            self._xdotool("click", 5 if clicks > 0 else 4)
            yield .08
        yield .2

    # ------------------------------------------------------------ finding buttons

    def _under_mouse(self, kind, region):
        """The names by which Blender knows the button under the mouse: "pliant.set_role" and
        "pliant.set_role(role='BODY')", or a property's name."""
        manager = bpy.context.window_manager
        with self.context(kind, region):
            for ask, answer in ((bpy.ops.ui.copy_python_command_button,
                                 r"bpy\.ops\.(([a-z0-9_.]+)\(.*\))"),
                                (bpy.ops.ui.copy_data_path_button, r"(([a-z0-9_]+)(?:\[\d+\])?)$")):
                manager.clipboard = ""
                try:
                    if ask.poll() and 'FINISHED' in ask():
                        said = re.search(answer, manager.clipboard)
                        if said:
                            return said[2], said[1].replace('"', "'")
                except RuntimeError:
                    pass
        return ()

    def buttons(self, kind, region="WINDOW", until=None, columns=(.25, .5, .75), step=18, pause=.06):
        """places = yield from window.buttons('PROPERTIES'): what is found by moving the mouse over a
        region, row by row: {"pliant.bake": (x, y), "stiffness": (x, y), ...}, the first place of each;
        stops early at a name `until`. At each place the mouse rests for `pause` seconds."""
        left, top, right, bottom = self.box(kind, region)
        found = {}
        for column in columns:
            x = round(left + column * (right - left))
            for y in range(top + 8, bottom - 4, step):
                self._xdotool("mousemove", x, y)
                yield pause
                names = self._under_mouse(kind, region)
                if until in names:
                    yield .2  # what was seen may be what the mouse was over before
                    names = self._under_mouse(kind, region)
                for name in names:
                    found.setdefault(name, (x, y))
                if until in names:
                    return found
        return found

    def find(self, name, kind, region="WINDOW"):
        """place = yield from window.find("pliant.bake", 'PROPERTIES'): of an operator's or a
        property's button. Where several buttons call an operator: "pliant.set_role(role='BODY')". A
        place further down than the region shows is not found: scroll first. A busy machine sees the
        mouse late, and then a button is passed by unseen: so once more, slower and in other rows."""
        seen = set()
        for step, pause in ((18, .06), (13, .2), (11, .5)):
            found = yield from self.buttons(kind, region, until=name, step=step, pause=pause)
            if name in found:
                return found[name]
            seen.update(found)
        raise AssertionError(f"no button {name} in {kind} {region}; there are {sorted(seen)}")

    def press(self, name, kind, region="WINDOW"):
        """yield from window.press("pliant.bake", 'VIEW_3D', "UI"): finds the button and clicks it."""
        place = yield from self.find(name, kind, region)
        yield from self.click(*place)

    # ------------------------------------------------------------ arranging the screen

    def fresh(self):
        """yield from window.fresh(): an empty file in the usual layout; the add-on stays enabled."""
        with self.context():
            bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=False)
        yield .5

    def properties_tab(self, tab):
        """yield from window.properties_tab('PHYSICS'): needs an active object that has it."""
        self.area("PROPERTIES").spaces.active.context = tab
        self.area("PROPERTIES").tag_redraw()
        yield .3

    def toggle_full(self, kind):
        """yield from window.toggle_full('PROPERTIES'): an area over the whole screen, for pictures of
        panels; again: back."""
        with self.context(kind):
            bpy.ops.screen.screen_full_area()
        yield .6

    def sidebar(self, tab=None):
        """yield from window.sidebar("Pliant"): opens the 3D view's sidebar (N), at a tab."""
        self.area("VIEW_3D").spaces.active.show_region_ui = True
        yield lambda: self.region("VIEW_3D", "UI").width > 1
        yield .3
        if tab:     # a tab can be chosen only after it was drawn
            self.region("VIEW_3D", "UI").active_panel_category = tab
            self.area("VIEW_3D").tag_redraw()
            yield .3

    def redraw(self):
        """yield from window.redraw(): everything."""
        for area in self.window.screen.areas:
            area.tag_redraw()
        yield .3

    # ------------------------------------------------------------ what is on the screen

    def screenshot(self, name):
        """Keeps a picture of the screen as NAME.png and returns it as an array (height, width, 3)."""
        assert re.fullmatch(r"[a-z0-9_.-]+", name, re.IGNORECASE), f"not a file name: {name}"
        SHOTS.mkdir(exist_ok=True)
        path = SHOTS / f"{name}.png"
        subprocess.run(["import", "-silent", "-window", "root", str(path)], check=True, timeout=30)
        return self.read(path)

    def look(self):
        """The screen as an array (height, width, 3) of bytes, kept nowhere."""
        path = SHOTS.parent / "look.png"
        subprocess.run(["import", "-silent", "-window", "root", str(path)], check=True, timeout=30)
        return self.read(path)

    @staticmethod
    def read(path):
        done = subprocess.run(["convert", str(path), "-depth", "8", "ppm:-"], check=True,
                              stdout=subprocess.PIPE, timeout=30)
        head = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", done.stdout)
        width, height = int(head[1]), int(head[2])
        pixels = np.frombuffer(done.stdout, np.uint8, width * height * 3, offset=head.end())
        return pixels.reshape(height, width, 3)


# ---------------------------------------------------------------- looking at pixels


def crop(picture, box):
    """The part of a picture in a box (left, top, right, bottom)."""
    left, top, right, bottom = box
    return picture[max(0, top):bottom, max(0, left):right]


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
    hue = np.where(high == r, (g - b) / spread % 6,
                   np.where(high == g, (b - r) / spread + 2, (r - g) / spread + 4))
    counts = np.bincount((hue * 2).astype(int) % 12, minlength=12)
    return len(strong) / len(values), int((counts >= .01 * len(strong)).sum())


def differs(before, after, threshold=8):
    """Which part of the pixels changed between two pictures."""
    away = np.abs(before.astype(np.int16) - after.astype(np.int16)).max(axis=2)
    return float((away > threshold).mean())
