# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults in every file operation of a small bake, and of copying one over another as Save As does.

operations.py SHIM [--jobs N] [--only MODE:NUMBER] [--campaign bake|copy]
"""

import argparse
import shutil
import sys

import harness
import scene
from addon.bake import copying, lock
from addon.bake.cache import INFO_NAME, Cache
from addon.bake.errors import BakeError


class Bake(harness.Campaign):
    """Resumed afterwards. All files must then be those of a bake without faults, to the bit."""

    def __init__(self, shim, place):
        super().__init__(shim, place)
        self.shot = scene.shot()
        whole = self.place / "whole"
        error = scene.bake(whole, self.shot)
        if error:
            sys.exit(f"the bake without faults failed: {error}")
        self.wanted = scene.results(whole)

    def run(self, folder):
        return scene.bake(folder, self.shot)

    def differences(self, folder):
        return harness.compared(scene.results(folder), self.wanted)


class Copy(harness.Campaign):
    """A bake is copied over another one. The source is never touched; the target is the former bake, the
    new one, or (killed in the middle of the switch) none, and copying again makes it the new one."""

    def __init__(self, shim, place):
        super().__init__(shim, place)
        self.template = self.place / "template"
        for name, end in (("source", 3), ("target", 2)):
            error = scene.bake(self.template / name, scene.shot(end=end, count=40, checkpoint_every=4))
            if error:
                sys.exit(f"the bake that is copied failed: {error}")
        self.source, self.former = (self.contents(self.template, name) for name in ("source", "target"))

    @staticmethod
    def contents(folder, name):
        return harness.contents(folder / name, leave_out=lock.NAME)

    def prepare(self, folder):
        shutil.copytree(self.template, folder)

    def run(self, folder):
        try:
            copying.copy(folder / "source", folder / "target")
        except (BakeError, OSError) as error:
            return f"{type(error).__name__}: {error}"

    def after(self, folder, error):
        differs = harness.compared(self.contents(folder, "source"), self.source)
        if differs:
            return f"the source: {differs}"
        if error == "":  # it says that it is copied
            return self.new(folder)
        target = folder / "target"
        if not (target / INFO_NAME).exists():
            return ""
        found = {
            name: data
            for name, data in self.contents(folder, "target").items()
            if not name.startswith("bake.incoming/")
        }
        return "" if found == self.former or not self.new(folder) else "the target is neither bake"

    def new(self, folder):
        found = self.contents(folder, "target")
        found = {name: data for name, data in found.items() if not name.startswith("bake.incoming/")}
        wanted = dict(self.source)
        found["bake.files"] = wanted["bake.files"] = b""  # the order of names is another
        return harness.compared(found, wanted)

    def differences(self, folder):
        Cache.open(folder / "target").check()
        left = "bake.incoming is left over" if (folder / "target" / "bake.incoming").exists() else ""
        return left or self.new(folder) or self.after(folder, "")


CAMPAIGNS = {"bake": Bake, "copy": Copy}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaign", choices=CAMPAIGNS)
    options = harness.options_of(parser)
    chosen = [options.campaign] if options.campaign else list(CAMPAIGNS)
    return 1 if sum(harness.main(name, CAMPAIGNS[name], options) for name in chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
