# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs tests/window/test_*.py in Blenders with a window; the last line is "N passed, M failed", with
"K skipped" before it if any were.

    python tests/window/run.py --extension ZIP [--blender 4.3-window ...] [--shots DIR] [pattern ...]

Each test file gets a Blender of its own, in the Debian that tests/blenders made, on a screen of its own
(Xvfb), with a copy of a home into which the zip was installed as a user would. Blenders run side by
side. Screenshots are kept in DIR/BLENDER (default build-release/window-shots). README.md says how a test
is written. A Blender that is not there counts as one that is skipped.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
BLENDERS = ROOT / "tests" / "blenders"
KNOWN = ("4.3-window", "5.2-window")
LAST_LINE = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)

# Both run in the chroot, in a folder of their own with Blender's user files in it.
ALONE = """cd "$(dirname "$0")" || exit 1
export HOME=$PWD/home LIBGL_ALWAYS_SOFTWARE=1 OPENBLAS_NUM_THREADS=1 LC_ALL=C.UTF-8 TMPDIR=$PWD/tmp
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1 XDG_RUNTIME_DIR=$PWD/tmp
export MESA_SHADER_CACHE_DIR=/var/cache/pliant-shaders  # compiling them is most of a first drawing
unset PLIANT_LIBRARY BLENDER_USER_RESOURCES WAYLAND_DISPLAY
mkdir -p home tmp shots
"""
INSTALL = (
    ALONE
    + """
blender --command extension install-file -r user_default --enable extension.zip >home/install.log 2>&1
echo "install-file exit code $?" >>home/install.log
"""
)
START = (
    ALONE
    + """
Xvfb -displayfd 3 -screen 0 1600x1000x24 +extension GLX -nolisten tcp 3>display >xvfb.log 2>&1 &
screen=$!
trap 'kill $screen 2>/dev/null' EXIT
tries=0
while [ ! -s display ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] && kill -0 $screen || { echo "no screen:"; cat xvfb.log; exit 1; }
    sleep .1
done
export DISPLAY=:$(cat display)
blender -noaudio --window-geometry 0 0 1600 1000 --python driver.py -- "$1"
"""
)


def blender_root(name):
    done = subprocess.run(
        ["bash", str(BLENDERS), "root", name], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def prepare(root, name):
    """An empty folder inside the chroot: no mounts are needed to share it."""
    folder = root / "srv" / f"pliant-{os.getpid()}-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def install(name, root, options):
    """A folder with the home of a user who has installed the zip."""
    folder = prepare(root, "user")
    shutil.copy(options.extension, folder / "extension.zip")
    (folder / "start").write_text(INSTALL)
    start(name, root, folder, "", options.timeout)
    return folder


def start(name, root, folder, argument, timeout):
    """Runs Blender to its end or the timeout: (exit code or None, what it wrote)."""
    inside = "/" + str(folder.relative_to(root))
    command = ["bash", str(BLENDERS), "in", name, "/bin/sh", f"{inside}/start", argument]
    with open(folder / "output", "w+b") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            try:  # whatever of its process group is left: the screen, a hanging Blender
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        output.seek(0)
        return code, output.read().decode(errors="replace")


def run_file(name, root, user, file, options):
    """One test file in one Blender: (good, bad, skipped), text to show."""
    folder = prepare(root, file.stem)
    began = time.monotonic()
    try:
        shutil.copytree(user / "home", folder / "home", symlinks=True)
        for source in FOLDER.glob("*.py"):
            shutil.copy(source, folder)
        (folder / "start").write_text(START)
        installed = (folder / "home" / "install.log").read_text(errors="replace")
        code, text = start(name, root, folder, file.name, options.timeout)
        shots = options.shots / name
        shots.mkdir(parents=True, exist_ok=True)
        for shot in sorted((folder / "shots").glob("*.png")):
            shutil.copy(shot, shots / f"{file.stem.removeprefix('test_')}-{shot.name}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    counts = LAST_LINE.findall(text)
    good, bad = (
        map(int, counts[-1])
        if counts
        else [len(re.findall(f"^{mark}", text, re.MULTILINE)) for mark in ("ok  ", "FAIL ")]
    )
    text = LAST_LINE.sub("", text).rstrip() + "\n"
    left = len(re.findall("^skip ", text, re.MULTILINE))
    if not counts or code != 0:
        bad += not counts or bad == 0
        ending = (
            f"was still running after {options.timeout:g} s"
            if code is None
            else f"ended with code {code}" + ("" if counts else " before its last test")
        )
        text += f"FAIL {file.name} in Blender {name} {ending}\n"
    if bad:
        text += "".join(f"    | install: {line}\n" for line in installed.splitlines())
    else:
        text = "".join(line + "\n" for line in text.splitlines() if re.match("ok  |skip", line))
    return (good, bad, left), text + f"    {file.name}, Blender {name}: {time.monotonic() - began:.0f} s\n"


class Tally:
    """Results of Blenders that run side by side; each file's lines stay together."""

    def __init__(self):
        self.good = self.bad = self.left = 0
        self.lock = threading.Lock()

    def add(self, counts, text):
        with self.lock:
            self.good, self.bad, self.left = map(sum, zip((self.good, self.bad, self.left), counts))
            print(text, end="", flush=True)


def run_blender(name, files, options, tally):
    root = blender_root(name)
    if root is None:
        tally.add((0, 0, 1), f"skip Blender {name}: it is not here (bash tests/blenders fetch {name})\n")
        return
    if os.geteuid() != 0:
        tally.add((0, 0, 1), f"skip Blender {name}: entering its Debian needs root\n")
        return
    user = install(name, root, options)
    try:
        for file in files:
            try:
                tally.add(*run_file(name, root, user, file, options))
            except Exception as error:
                tally.add((0, 1, 0), f"FAIL {file.name} in Blender {name}: {error!r}\n")
    finally:
        shutil.rmtree(user, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extension", type=Path, required=True)
    parser.add_argument("--blender", nargs="+", default=KNOWN, choices=KNOWN)
    parser.add_argument("--shots", type=Path, default=ROOT / "build-release" / "window-shots")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    files = [
        f
        for f in sorted(FOLDER.glob("test_*.py"))
        if not options.patterns or any(p in f.stem for p in options.patterns)
    ]
    tally = Tally()
    threads = [threading.Thread(target=run_blender, args=(name, files, options, tally)) for name in options.blender]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if tally.left:
        print(f"{tally.left} skipped")
    print(f"{tally.good} passed, {tally.bad} failed", flush=True)
    return 1 if tally.bad else 0


if __name__ == "__main__":
    sys.exit(main())
