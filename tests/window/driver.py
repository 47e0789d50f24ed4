# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a test file inside a Blender with a window, from a timer: Blender's own loop goes on between
two steps of a test, draws, and answers the mouse. blender --python driver.py -- TEST.py
"""

import importlib
import inspect
import os
import sys
import time
import traceback

import bpy

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
import window as window_module

TIMEOUT = 60  # seconds that a condition may take to become true
TICK = 0.02  # between two looks at it


class Runner:
    """One test after another: each is a generator, a step of which ends at a yield."""

    def __init__(self, module):
        self.window = window_module.Window()
        self.tests = [
            (name, function)
            for name, function in vars(module).items()
            if name.startswith("test_") and inspect.isgeneratorfunction(function)
        ]
        self.current = None
        self.good = self.bad = 0

    def begin(self):
        name, function = self.tests.pop(0)
        self.name, self.began = name, time.monotonic()
        self.waiting, self.deadline = None, 0
        self.current = function(self.window)

    def end(self, error=None):
        seconds = time.monotonic() - self.began
        if isinstance(error, window_module.Skip):
            print(f"skip {self.name} ({seconds:.2f} s): {error}", flush=True)
        elif error is None:
            self.good += 1
            print(f"ok   {self.name} ({seconds:.2f} s)", flush=True)
        else:
            self.bad += 1
            print(f"FAIL {self.name} ({seconds:.2f} s)", flush=True)
            text = "".join(traceback.format_exception(error))
            print("    " + text.replace("\n", "\n    "), flush=True)
            try:
                self.window.screenshot(f"failed-{self.name}")
            except Exception as problem:
                print(f"    no screenshot: {problem}", flush=True)
        self.current = None

    def may_go_on(self):
        """Whether what the test waits for has come; too late raises in the test."""
        if self.waiting is None:
            return True
        if callable(self.waiting):
            if self.waiting():
                return True
            if time.monotonic() > self.deadline:
                source = inspect.getsource(self.waiting).strip()
                self.current.throw(AssertionError(f"not true after {TIMEOUT} s: {source}"))
            return False
        return time.monotonic() >= self.deadline

    def step(self):
        if self.current is None:
            self.begin()
        try:
            if self.may_go_on():
                self.waiting = next(self.current)
                wait = self.waiting if isinstance(self.waiting, (int, float)) else TIMEOUT
                self.deadline = time.monotonic() + wait
        except StopIteration:
            self.end()
        except BaseException as error:
            self.end(error)

    def tick(self):
        if self.current is None and not self.tests:
            print(f"{self.good} passed, {self.bad} failed", flush=True)
            bpy.app.timers.register(self.leave, first_interval=0.2)
            return None
        self.step()
        return 0.0 if self.waiting == 0 else TICK

    def leave(self):
        """Quits as a user does, so that what the add-on does then is seen too."""
        with self.window.context():
            bpy.ops.wm.quit_blender()


def main():
    # a view that stands still is drawn once, not once more for each sample of its smooth edges
    bpy.context.preferences.system.viewport_aa = "OFF"
    view = bpy.context.preferences.view
    view.show_splash = False
    view.use_save_prompt = False
    bpy.context.preferences.use_preferences_save = False
    name = sys.argv[sys.argv.index("--") + 1]
    try:
        runner = Runner(importlib.import_module(name.removesuffix(".py")))
    except BaseException:
        traceback.print_exc()
        print("0 passed, 1 failed", flush=True)
        os._exit(1)
    # persistent: a test may open another file
    bpy.app.timers.register(runner.tick, first_interval=1, persistent=True)


main()
