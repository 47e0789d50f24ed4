# SPDX-License-Identifier: GPL-3.0-or-later
"""Pliant without a window, the same in three ways:

    blender -b shot.blend --python addon/cli.py -- bake --frames 1-120
    python addon/cli.py bake --blend shot.blend --frames 1-120        (a Python with the module bpy)
    blender --command pliant bake --blend shot.blend --frames 1-120   (the installed extension)

Everything is explained in docs/command-line.md. This file finds the rest of the add-on and reads the
arguments; command/ does the work.
"""

import argparse
import importlib
import importlib.util
import math
import os
import re
import shutil
import sys
from pathlib import Path

COMMAND = "pliant"
FORMATS = {
    "pc2": "PC2",
    "mdd": "MDD",
    "abc": "ALEMBIC",
    "alembic": "ALEMBIC",
    "shape_keys": "SHAPE_KEYS",
    "relative_keys": "SHAPE_KEYS",
    "points": "POINTS",
    "surface": "SURFACE",
    "fragments": "FRAGMENTS",
    "debris": "DEBRIS",
}
IN_THE_FILE = {"SHAPE_KEYS", "POINTS", "SURFACE", "FRAGMENTS", "DEBRIS"}  # which need --save
USAGE, INSTALLATION, MEMORY = 2, 5, 9  # exit codes of this file; all are in command/failures.py
# Megabytes of address space that loading bpy and NumPy need (measured on two cores: 1,320 and 120);
# with less, Blender ends with a signal or an exit code of its own.
BPY_NEEDS, NUMPY_NEEDS = 1400, 200


# ---------------------------------------------------------------- arguments


def frame_range(text):
    match = re.fullmatch(r"\s*(-?\d+)\s*(?:[-:]|\.\.)\s*(-?\d+)\s*", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no range of frames such as 1-120")
    first, last = int(match[1]), int(match[2])
    if last < first:
        raise argparse.ArgumentTypeError(f"frames {first} to {last}: the last is before the first")
    return first, last


def formats(text):
    """{name: kind of result} from "pc2,abc", in that order."""
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in FORMATS:
            raise argparse.ArgumentTypeError(f"there is no format '{name}': there are {', '.join(FORMATS)}")
    return {name: FORMATS[name] for name in names}


def part(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no part of the particles, such as 0.2")
    return value


def whole(text):
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is no number of threads (0: all cores)")
    return int(text)


def _common(parser):
    parser.add_argument(
        "--blend", type=Path, metavar="FILE", help="the .blend file; not needed where Blender has already opened one"
    )
    parser.add_argument("--scene", metavar="NAME", help="the scene; default: the file's active one")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="the folder of the bake; default: as the scene says, pliant_cache beside the .blend file",
    )
    parser.add_argument(
        "--allow-outside",
        action="store_true",
        help="also write to and delete from the cache folder that the .blend file names if it is "
        "outside of the file's own folder",
    )
    parser.add_argument(
        "--scripts",
        action="store_true",
        help="let the .blend file run its own Python (scripts, drivers); with --blend only",
    )
    parser.add_argument("--log-json", action="store_true", help="one JSON object per line")


def _roles(parser):
    parser.add_argument(
        "--objects", nargs="+", action="extend", metavar="NAME", help="make exactly these objects soft bodies"
    )
    parser.add_argument(
        "--colliders", nargs="+", action="extend", metavar="NAME", help="make exactly these objects colliders"
    )
    parser.add_argument("--preset", metavar="NAME", help="material of the bodies: Rubber, Jelly ...")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="[OBJECT:]SETTING=VALUE",
        help="a setting of the bodies or colliders (material.damping=3) or of the scene (scene.substeps=8)",
    )
    parser.add_argument(
        "--weld",
        action="append",
        default=[],
        dest="welds",
        metavar="OBJECT:OTHER[=PASCALS]",
        help="weld one to the other where they touch at the first frame; the weld breaks above PASCALS",
    )
    parser.add_argument("--frames", type=frame_range, metavar="FIRST-LAST", help="default: as the scene says")
    parser.add_argument(
        "--threads", type=whole, metavar="N", help="threads, 0: one for each core; does not change the result"
    )


def _save(parser):
    parser.add_argument("--save", type=Path, metavar="FILE.blend", help="save the file with the result")


def make_parser():
    parser = argparse.ArgumentParser(
        prog=COMMAND, description="Soft bodies without a window.", epilog="Exit codes and farms: docs/command-line.md"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    bake = commands.add_parser("bake", help="simulate the soft bodies of a scene")
    _common(bake)
    _roles(bake)
    _save(bake)
    bake.add_argument(
        "--format",
        type=formats,
        metavar="LIST",
        help=f"results to make: {', '.join(FORMATS)}; the objects show the last one",
    )
    bake.add_argument(
        "--resume", action="store_true", help="continue an existing bake; without one, start from the beginning"
    )
    bake.add_argument(
        "--quick",
        type=part,
        metavar="PART",
        help="use this share of the particles, to judge the motion; in a folder of its own",
    )

    cluster = commands.add_parser("cluster", help="show how bodies are clustered")
    _common(cluster)
    _roles(cluster)
    _save(cluster)
    cluster.add_argument("--level", type=int, default=0, metavar="N", help="0 is the finest")

    info = commands.add_parser("info", help="show the contents of a scene and its bake")
    _common(info)

    export = commands.add_parser("export", help="make other formats or meshes from a finished bake")
    _common(export)
    _save(export)
    export.add_argument("--objects", nargs="+", action="extend", metavar="NAME", help="default: all that were baked")
    export.add_argument("--format", type=formats, default="pc2", metavar="LIST", help=f"some of {', '.join(FORMATS)}")
    export.add_argument(
        "--bind", action="append", default=[], metavar="MESH=BODY", help="make another mesh follow the bake of a body"
    )
    export.add_argument("--to", type=Path, metavar="DIR", help="copy the files there")

    clear = commands.add_parser("clear", help="delete a bake from the disk")
    _common(clear)
    _save(clear)
    return parser


def parse(arguments):
    options = make_parser().parse_args(arguments)
    if options.command in ("bake", "export") and not options.save:
        kept = [name for name, kind in (options.format or {}).items() if kind in IN_THE_FILE]
        if kept:
            make_parser().error(f"{kept[0]} is kept in a .blend file: name it with --save FILE.blend")
    return options


# ---------------------------------------------------------------- running


def main(arguments):
    """Runs a command in a Blender that has the add-on; returns the exit code."""
    try:
        options = parse(arguments)
    except SystemExit as error:  # argparse has printed the reason
        return error.code if isinstance(error.code, int) else USAGE
    from .command import run

    return run.run(options)


def register():
    import bpy

    global _registered
    if hasattr(bpy.utils, "register_cli_command"):
        _registered = bpy.utils.register_cli_command(COMMAND, main)


def unregister():
    import bpy

    global _registered
    if _registered is not None:
        bpy.utils.unregister_cli_command(_registered)
        _registered = None


_registered = None


# ---------------------------------------------------------------- as a script


def _enabled():
    """Name of the Pliant extension that is enabled in this Blender, or None."""
    import bpy

    return next(
        (
            name
            for name in bpy.context.preferences.addons.keys()
            if name.split(".")[-1] == COMMAND and name in sys.modules
        ),
        None,
    )


def load_addon():
    """This add-on's package: the one that is enabled in this Blender, or this file's folder,
    registered for this run."""
    name = _enabled()
    if name or COMMAND in sys.modules:  # enabled, or loaded here before
        return importlib.import_module(name or COMMAND)
    folder = Path(__file__).resolve().parent
    sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != folder]
    spec = importlib.util.spec_from_file_location(
        COMMAND, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules[COMMAND] = package
    spec.loader.exec_module(package)
    package.register()
    return package


def _script_arguments():
    """The arguments for this script: after "--" under Blender, all under Python."""
    given = sys.argv
    if Path(given[0]).resolve() == Path(__file__).resolve():
        return given[1:]
    return given[given.index("--") + 1 :] if "--" in given else []


def _megabytes_left():
    """Remaining address space of this process (ulimit -v); infinite if there is no limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, AttributeError):
        return math.inf
    return math.inf if limit == resource.RLIM_INFINITY else (limit - used) / 2**20


def _run_script():
    arguments = _script_arguments()
    if not arguments or set(arguments) & {"-h", "--help"}:
        try:
            parse(arguments or ["--help"])
        except SystemExit as error:
            return error.code or 0
    needed = 0 if "numpy" in sys.modules else NUMPY_NEEDS if "bpy" in sys.modules else BPY_NEEDS
    if _megabytes_left() < needed:
        print(
            f"error: This process may have {_megabytes_left():.0f} MB more of memory, loading Blender "
            f"alone takes {needed} MB: raise its limit (ulimit -v).",
            file=sys.stderr,
        )
        return MEMORY
    try:
        import bpy  # noqa: F401
    except ImportError as error:
        print(
            f"error: {error}. Run this through Blender (blender -b shot.blend --python cli.py -- "
            f"...) or with a Python that has the module bpy (pip install bpy).",
            file=sys.stderr,
        )
        return INSTALLATION
    return importlib.import_module(load_addon().__name__ + ".cli").main(arguments)


def leave(code):
    """Ends the process with an exit code."""
    sys.stdout.flush()
    sys.stderr.flush()
    bpy = sys.modules.get("bpy")
    if bpy is not None and not bpy.app.binary_path:
        # bpy may crash on a normal exit, which would look like a failure
        shutil.rmtree(bpy.app.tempdir, ignore_errors=True)
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    leave(_run_script())
