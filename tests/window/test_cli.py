# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of the installed extension, in Blenders without a window beside this one."""

import os
import re
import signal
import subprocess
from pathlib import Path

import bpy
from window import addon

ROLES = ["--objects", "Head", "--colliders", "Floor"]
SMALL = [*ROLES, "--set", "particles.count=200", "--frames", "1-6"]


def shot():
    """A .blend file that knows nothing of Pliant."""
    path = Path("cli-shot.blend").absolute()
    if not path.exists():
        bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 1.2))
        bpy.context.object.name = "Head"
        bpy.ops.mesh.primitive_plane_add(size=20)
        bpy.context.object.name = "Floor"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return str(path)


def as_command(*arguments):
    return ["blender", "--command", "pliant", arguments[0], "--blend", shot(), *arguments[1:]]


def as_script(*arguments):
    script = Path(addon().__file__).with_name("cli.py")
    return ["blender", "-b", shot(), "--python", str(script), "--", *arguments]


def start(command):
    without_window = {k: v for k, v in os.environ.items() if k != "DISPLAY"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=without_window)


def run(command):
    process = start(command)
    said = process.communicate(timeout=120)[0]
    return process.returncode, said


def test_command_and_script_give_the_same_bits(w):
    with w.context():
        shot()
    rows = []
    for name, way in (("command", as_command), ("script", as_script)):
        code, said = run(way("bake", *SMALL, "--out", f"cli-{name}", "--save", f"cli-{name}.blend"))
        assert code == 0, said
        assert re.search(r"Saved: '.*00-Head\.pc2'", said), said
        assert Path(f"cli-{name}.blend").is_file()
        rows.append(Path(f"cli-{name}", "00-Head.pc2").read_bytes())
        yield
    assert rows[0] == rows[1]


def test_exit_codes(w):
    for way, arguments, expected in (
        (as_command, ["bake", "--objects", "Nobody"], 3),
        (as_command, ["bake"], 4),
        (as_command, ["bake", "--frames", "x"], 2),
        (as_script, ["bake", "--objects", "Nobody"], 3),
        (as_script, ["export", "--out", "cli-nothing"], 6),
    ):
        code, said = run(way(*arguments))
        assert code == expected, f"{code}: {said}"
        yield


def test_signals_stop_cleanly(w):
    for way, number in ((as_command, signal.SIGTERM), (as_script, signal.SIGTERM), (as_script, signal.SIGINT)):
        out = f"cli-{way.__name__}-{number}"
        process = start(way("bake", *ROLES, "--set", "particles.count=6000", "--frames", "1-2000", "--out", out))
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("Frame 3 "):
                process.send_signal(number)
                break
        said += process.communicate(timeout=60)[0]
        assert process.returncode == 128 + number, f"{process.returncode}: {said}"
        assert "are kept, --resume continues" in said, said
        yield
