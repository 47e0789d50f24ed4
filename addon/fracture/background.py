# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks a mesh in another process.

The cutting library holds the GIL while it works, which would freeze Blender's window; and a crash
on a damaged mesh must not take the user's unsaved file with it. Run as a program, this file is that
process:

    python background.py INPUT OUTPUT
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

if __package__:
    from . import archive
    from .datatypes import CrackError

PART = b"part "  # prefix of the process's progress lines
LOOK_EVERY = 0.05  # seconds between polls of the process and of the cancel callback


def break_in_background(surface, particles, look, cancelled=lambda: False, progress=None):
    """As break_mesh, in another process; None if `cancelled` returned true. May be called from a
    thread."""
    with tempfile.TemporaryDirectory(prefix="pliant-cracks-") as folder:
        source, target = Path(folder, "in.npz"), Path(folder, "out.npz")
        archive.save(source, surface=surface, particles=particles, look=look)
        with open(Path(folder, "said.txt"), "w+b") as said:
            process = subprocess.Popen(
                [sys.executable, "-B", str(Path(__file__).resolve()), str(source), str(target)],
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
            try:
                while process.poll() is None:
                    if cancelled():
                        return None
                    if progress:
                        progress(reached(said.name))
                    time.sleep(LOOK_EVERY)
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
            if process.returncode == 0 and target.is_file():
                return result(surface, archive.load(target))
            said.seek(0)
            last = said.read().decode(errors="replace").strip().splitlines()[-1:]
        raise CrackError(
            "The process that cuts meshes along cracks ended with code "
            f"{process.returncode}{': ' if last else '.'}{''.join(last)}"
        )


def reached(path):
    """The last reported progress, 0 to 1."""
    with open(path, "rb") as said:
        lines = [line[len(PART) :] for line in said.read().splitlines() if line.startswith(PART)]
    try:
        return float(lines[-1]) if lines else 0.0
    except ValueError:  # an incomplete line
        return float(lines[-2]) if len(lines) > 1 else 0.0


def result(surface, found):
    if "error" in found:
        raise CrackError(found["error"])
    broken = found["broken"]
    if broken.untouched:
        broken.surface = surface
    return broken


def environment():
    """The environment with the package folders of this Python (Blender adds some at run time)."""
    folders = []
    for name in ("numpy", "pliant_native", "manifold3d"):
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            continue
        if spec and spec.origin:
            origin = Path(spec.origin)
            folders.append(str(origin.parents[1] if origin.name == "__init__.py" else origin.parent))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(folders))}


def end_with(parent, folder):
    """Ends this process, and removes its files, when its parent process is gone (not on Windows,
    where this cannot be detected here)."""
    while os.getppid() == parent:
        time.sleep(1.0)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def main(source, target):
    threading.Thread(target=end_with, args=(os.getppid(), Path(source).parent), daemon=True).start()
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from fracture import CrackError, archive, break_mesh

    given = archive.load(source)
    try:
        made = {
            "broken": break_mesh(
                given["surface"],
                given["particles"],
                given["look"],
                lambda part: print(f"{PART.decode()}{part:.2f}", flush=True),
            )
        }
    except CrackError as error:
        made = {"error": str(error)}
    archive.save(target, **made)


if __name__ == "__main__":
    main(*sys.argv[1:])
