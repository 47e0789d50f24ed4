# SPDX-License-Identifier: GPL-3.0-or-later
"""Which packages of the add-on may import which, and a few rules that a machine can check.

    solver, fracture <- bake <- blender <- preview <- ui
                                           preview <- command <- cli

solver, fracture and bake know no Blender: they run in threads and in other processes.
"""

import ast
import re
import unittest

from support import ADDON

# package or module of the add-on's folder -> what it may import besides itself
ALLOWED = {
    "solver": set(),
    "fracture": set(),
    "bake": {"solver", "fracture"},
    "blender": {"solver", "fracture", "bake"},
    "preview": {"solver", "bake", "blender"},
    "ui": {"solver", "fracture", "bake", "blender", "preview"},
    "command": {"solver", "fracture", "bake", "blender", "preview"},
    "cli": {"command"},
    "__init__": {"blender", "cli", "preview", "ui"},
    "pack": set(),  # a tool of addon/build
}
NO_BLENDER = {"solver", "fracture", "bake"}
# of the preview: what its thread runs
PREVIEW_THREAD = {"build", "palette", "pieces", "proxies", "strain", "trial"}
BLENDER_MODULES = {
    "bpy",
    "bmesh",
    "mathutils",
    "gpu",
    "bl_math",
    "blf",
    "idprop",
    "aud",
    "bpy_extras",
    "gpu_extras",
    "bpy_types",
    "bl_ui",
    "bl_operators",
    "freestyle",
}
EVALUATE = {"eval", "exec", "compile"}


def modules():
    """{("blender", "runs"): path} of every module; a package is named after its folder."""
    found = {}
    for path in sorted(ADDON.rglob("*.py")):
        name = path.relative_to(ADDON).with_suffix("").parts
        found[name[:-1] if name[-1] == "__init__" and len(name) > 1 else name] = path
    return found


def imported(path):
    """(dotted name, level, names) of every import in a file, also of those within functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level, [alias.name for alias in node.names]
        elif (
            isinstance(node, ast.Call)
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("__import__", "import_module")
        ):
            yield str(node.args[0].value), 0, ()


def targets(name, path, known):
    """The modules of the add-on that one of its modules imports."""
    package = name if path.name == "__init__.py" and name != ("__init__",) else name[:-1]
    for module, level, names in imported(path):
        if not level:
            continue
        base = package[: len(package) - (level - 1)] + tuple(filter(None, module.split(".")))
        for one in names:
            yield base + (one,) if base + (one,) in known else base


def layer(name):
    return name[0]


def circles(graph):
    """What imports itself by way of others, or imports those; {name: names}."""
    left = {name: found - {name} for name, found in graph.items()}
    while ends := {name for name, found in left.items() if not found & set(left)}:
        left = {name: found for name, found in left.items() if name not in ends}
    return sorted(left)


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.known = modules()
        cls.graph = {name: set(targets(name, path, cls.known)) for name, path in cls.known.items()}

    def test_packages_import_only_those_below(self):
        wrong = []
        for name, found in self.graph.items():
            self.assertIn(layer(name), ALLOWED, f"{'/'.join(name)} is in no layer")
            for target in found:
                if layer(target) not in ALLOWED[layer(name)] | {layer(name)}:
                    wrong.append(f"{'/'.join(name)} imports {'.'.join(target)}")
        self.assertEqual(wrong, [])

    def test_layers_make_no_circle(self):
        self.assertEqual(circles(ALLOWED), [])

    def test_every_import_leads_somewhere(self):
        wrong = [
            f"{'/'.join(name)} imports {'.'.join(target)}"
            for name, found in self.graph.items()
            for target in found
            if target not in self.known
        ]
        self.assertEqual(wrong, [])

    def test_modules_make_no_circle(self):
        self.assertEqual(["/".join(name) for name in circles(self.graph)], [])

    def test_results_know_no_capture(self):
        wrong = [
            f"{'/'.join(name)}"
            for name, found in self.graph.items()
            for target in found
            if name[:2] == ("blender", "results") and target[:2] == ("blender", "capture")
        ]
        self.assertEqual(wrong, [])

    def test_some_packages_know_no_blender(self):
        count = 0
        for name, path in self.known.items():
            if layer(name) not in NO_BLENDER and not (name[0] == "preview" and name[-1] in PREVIEW_THREAD):
                continue
            count += 1
            for module, level, _ in imported(path):
                self.assertFalse(not level and module.split(".")[0] in BLENDER_MODULES, f"{path} imports {module}")
            for target in self.graph[name]:
                self.assertNotEqual(layer(target), "blender", f"{path} imports {'.'.join(target)}")
        self.assertGreater(count, 40)

    def test_solver_and_fracture_stand_alone(self):
        """They are also imported as packages of their own: solver by scripts, fracture by its process."""
        for name, path in self.known.items():
            if layer(name) in ("solver", "fracture"):
                depth = len(path.relative_to(ADDON / layer(name)).parts)
                for module, level, _ in imported(path):
                    self.assertLessEqual(level, depth, f"{path} imports {module} from outside")


class Rules(unittest.TestCase):
    def test_one_file_knows_the_versions(self):
        wrong = [
            path.name
            for path in sorted(ADDON.rglob("*.py"))
            if path.name != "compat.py" and re.search(r"bpy\.app\.version\b", path.read_text(encoding="utf-8"))
        ]
        self.assertEqual(wrong, [])

    def test_nothing_is_run_from_data(self):
        wrong = []
        for path in sorted(ADDON.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in EVALUATE:
                    wrong.append(f"{path.name}:{node.lineno}")
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
