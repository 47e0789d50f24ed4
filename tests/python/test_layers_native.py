# SPDX-License-Identifier: GPL-3.0-or-later
"""Which module of native/src may include which.

    base <- geometry <- sampling, clustering <- body <- dynamics <- collision <- fracture/cuts <- body/edit
         <- fracture, plasticity <- sleep <- the substep <- api <- snapshot

A module includes itself and modules before it, these only by their public headers: a header whose name ends
in _internal is private to its module. The substep's files see every stage. Every stage sees the scene and the
substep that it runs in (CONTEXT). The module of a file is the longest entry of RANK that its path begins with.
"""

import re
import unittest

from support import NATIVE

SOURCES = NATIVE / "src"
RANK = {
    "base": 0,
    "geometry": 1,
    "sampling": 2,
    "clustering": 2,
    "body": 3,
    "output": 4,
    "dynamics": 4,
    "collision": 5,
    "fracture/cuts": 6,  # what cuts leave of a body's material, for whoever touches it
    "body/edit": 7,  # changes memberships, and tells all who keep something by slot or cluster
    "fracture": 8,
    "plasticity": 8,
    "sleep": 9,
    "substep": 10,
    "api": 11,
    "snapshot": 12,
}
# Files that put stages together: a module of their own in the folder of dynamics.
SUBSTEP = {
    "dynamics/substep.c",
    "dynamics/matching.c",
    "dynamics/frame.c",
    "dynamics/gravity_compensation.c",
    "dynamics/gravity_compensation.h",
}
# What a stage is run with. The scene owns what lasts longer than a substep, so its header sees collision.
CONTEXT = {"dynamics/scene.h", "dynamics/substep.h"}
# Says what of a body's derived data is current: nobody else writes that.
VALIDITY = "body/validity.h"
# file -> what it includes against the order, and why
EXCEPTIONS = {
    # plastic flow is inlined into the fit of clusters, eight at a time
    "dynamics/match.simd.c": {"plasticity/plastic.h"},
    # contacts wake what they hit
    "collision/cluster/stage.c": {"sleep/sleep.h"},
}


def files():
    return sorted(p for p in SOURCES.rglob("*") if p.suffix in (".c", ".h"))


def short(path):
    return path.relative_to(SOURCES).as_posix()


def module(name):
    if name in SUBSTEP:
        return "substep"
    found = [m for m in RANK if name.startswith(m + "/")]
    return max(found, key=len) if found else None


def includes(path):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(encoding="utf-8"), flags=re.M)


def may_include(name, target):
    """Whether the rules let a file include another."""
    own, other = module(name), module(target)
    if target.endswith("_internal.h") and own != other:
        return False
    if target in EXCEPTIONS.get(name, ()):
        return True
    if name in CONTEXT:
        return other in ("dynamics", "collision", "fracture/cuts") or RANK[other] <= RANK["body"]
    if target in CONTEXT:
        return RANK[own] >= RANK["dynamics"] and own != "output"
    return own == other or RANK[other] < RANK[own]


class Modules(unittest.TestCase):
    def test_every_file_is_in_a_module(self):
        self.assertEqual([short(p) for p in files() if module(short(p)) is None], [])
        used = {module(short(p)) for p in files()}
        self.assertEqual(set(RANK) - used, set(), "modules without files")

    def test_includes_follow_the_order(self):
        wrong = []
        for path in files():
            name = short(path)
            for target in includes(path):
                if not (SOURCES / target).is_file():
                    wrong.append(f"{name}: {target} is not there; paths are relative to native/src")
                elif not may_include(name, target):
                    wrong.append(f"{name} includes {target}")
        self.assertEqual(wrong, [])

    def test_exceptions_are_needed(self):
        for name, targets in EXCEPTIONS.items():
            self.assertEqual(targets - set(includes(SOURCES / name)), set(), name)
            for target in targets:
                self.assertGreaterEqual(RANK[module(target)], RANK[module(name)], name)
        for name in SUBSTEP | CONTEXT:
            self.assertTrue((SOURCES / name).is_file(), name)

    def test_headers_have_no_cycles(self):
        graph = {short(p): [t for t in includes(p) if t.endswith(".h")] for p in files() if p.suffix == ".h"}
        done = set()

        def visit(name, way):
            self.assertNotIn(name, way, " -> ".join([*way, name]))
            if name not in done:
                for target in graph.get(name, ()):
                    visit(target, [*way, name])
                done.add(name)

        for name in graph:
            visit(name, [])

    def test_guards_are_named_after_paths(self):
        wrong = []
        for path in files():
            if path.suffix == ".h":
                guard = "PL_" + re.sub(r"\W", "_", short(path)).upper()
                if f"#ifndef {guard}\n#define {guard}\n" not in path.read_text(encoding="utf-8"):
                    wrong.append(short(path))
        self.assertEqual(wrong, [])

    def test_validity_has_one_writer(self):
        written = re.compile(r"(\bvalid\.\w+|(->|\.)moments)\s*(=(?!=)|\+\+|--|[|&+-]=)|(\+\+|--)[\w>.-]*valid\.\w+")
        found = {short(p) for p in files() if written.search(p.read_text(encoding="utf-8"))}
        self.assertEqual(found, {VALIDITY})

    def test_the_rules_can_be_broken(self):
        self.assertFalse(may_include("base/core.c", "body/body.h"))
        self.assertFalse(may_include("body/layout.c", "dynamics/substep.h"))
        self.assertFalse(may_include("collision/cluster/welds.c", "fracture/fracture.h"))
        self.assertFalse(may_include("sleep/sleep.c", "fracture/fracture_internal.h"))
        self.assertFalse(may_include("dynamics/damping.c", "plasticity/plasticity.h"))
        self.assertFalse(may_include("plasticity/fade.c", "fracture/fracture.h"))
        self.assertTrue(may_include("fracture/split.c", "body/edit/edit.h"))
        self.assertTrue(may_include("dynamics/substep.c", "fracture/fracture.h"))


if __name__ == "__main__":
    unittest.main()
