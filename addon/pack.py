# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs the compiled library in a wheel and the add-on with it in an extension's zip, and checks both.

addon/build compiles and calls this; it is not part of the extension. Archives hold their files in
order and without times, so that the same files make the same bytes.
"""

import argparse
import base64
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

ADDON = Path(__file__).resolve().parent
ROOT = ADDON.parent
MODULE = "pliant_native"  # addon/solver/library.py looks for it
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can say

MODULE_INIT = '''"""Pliant's native library, beside the LAPACKE that it uses, and manifold3d. addon/solver/library.py and
addon/fracture/cut.py load them."""
'''

THIRD_PARTY = """What this wheel contains, and its licences:

libpliant.so            Pliant                                  GPL-3.0-or-later      LICENSE
  inside it             zstd (of PyPI's zstandard {zstandard})         BSD-3-Clause          LICENSE-zstd
  inside it             run-time functions of the compiler      MIT                   LICENSE-zig
libscipy_openblas.so    OpenBLAS and LAPACK (of PyPI's          BSD-3-Clause          LICENSE-openblas
                        scipy-openblas32 {openblas})
  inside it             libgfortran, libquadmath of GCC         GPL-3.0-or-later with LICENSE-openblas
                                                                GCC exception, LGPL-2.1-or-later
manifold3d.*.so         Manifold (of PyPI's manifold3d {manifold})   Apache-2.0            LICENSE-manifold
  inside it             oneTBB, Clipper2, nanobind              Apache-2.0, BSL-1.0,
                                                                BSD-3-Clause
"""

# Run where nothing of this checkout, and no library path, is known.
LOADS = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1])
said = {}
for name in ("pliant_version", "pliant_build_info"):
    function = getattr(library, name)
    function.restype = ctypes.c_char_p
    said[name] = function().decode()
with open("/proc/self/maps") as maps:
    said["files"] = sorted({line.split()[-1] for line in maps if "openblas" in line or "zstd" in line})
print(json.dumps(said))
"""


class Problem(Exception):
    """A sentence for whoever builds."""


def write_zip(path, files):
    """A zip of {name: bytes}, the same bytes for the same files; written aside, then renamed."""
    aside = path.with_suffix(".new")
    with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, LONG_AGO)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(info, files[name], compresslevel=9)
    os.replace(aside, path)


def version():
    """The project's version, which CMakeLists.txt and the manifest must agree on."""
    built = re.search(r"project\(pliant VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    with open(ADDON / "blender_manifest.toml", "rb") as file:
        stated = tomllib.load(file)["version"]
    if not built or built[1] != stated:
        raise Problem(f"CMakeLists.txt has version {built and built[1]}, blender_manifest.toml {stated}.")
    return stated


def carried_modules(folder, pythons):
    """manifold3d for each Python, as {name: bytes} with its licence, and its version.

    Each of its files is named after the Python that it is for, so that all of them can stand in one
    wheel. Blender 4.2 to 5.2 keep one wheel of a name, whatever Python it is for: a wheel for each would
    leave most of them without.
    """
    files, licence, version = {}, b"", ""
    for python in pythons:
        tag = "cp" + python.replace(".", "")
        found = sorted(folder.glob(f"manifold3d-*-{tag}-{tag}-*.whl"))
        if len(found) != 1:
            raise Problem(f"{folder} has {len(found)} wheels of manifold3d for Python {python}, not one.")
        version = found[0].name.split("-")[1]
        with zipfile.ZipFile(found[0]) as archive:
            for name in archive.namelist():
                if name.startswith("manifold3d.cpython-") and name.endswith(".so"):
                    files[name] = archive.read(name)
                elif name.endswith("licenses/LICENSE"):
                    licence = archive.read(name)
    if len(files) != len(pythons) or not licence:
        raise Problem(
            f"The wheels of manifold3d in {folder} hold {sorted(files)}{'' if licence else ' and no licence'}."
        )
    return files, licence, version


def licences(zstd, manifold, manifold_version):
    """The licence files of everything in the wheel, as {name: bytes}."""

    def of_package(package, ending):
        for file in importlib.metadata.files(package) or []:
            if str(file).endswith(ending) and "dist-info" in str(file):
                return file.locate().read_bytes()
        raise Problem(f"The licence of {package} is not in its package.")

    listing = THIRD_PARTY.format(
        openblas=importlib.metadata.version("scipy-openblas32"),
        zstandard=re.search(r"zstd-([0-9.]+)", str(zstd))[1],
        manifold=manifold_version,
    )
    return {
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "LICENSE-manifold": manifold,
        "LICENSE-zstd": (zstd / "LICENSE").read_bytes(),
        "LICENSE-zig": of_package("ziglang", "ziglang/LICENSE"),
        "LICENSE-openblas": of_package("scipy-openblas32", "LICENSE.txt"),
        "THIRD-PARTY.txt": listing.encode(),
    }


def make_wheel(options, release):
    """The wheel's path. It serves every Python: ctypes knows no interface of Python's, and manifold3d is
    there for each.

    Its version ends with a hash of what is in it: Blender leaves an installed wheel of the same
    version as it is, and a developer's rebuilt library would never arrive.
    """
    modules, manifold, manifold_version = carried_modules(options.wheels, options.pythons.split())
    notices = licences(options.zstd, manifold, manifold_version)
    payload = {
        f"{MODULE}/libpliant.so": options.library.read_bytes(),
        f"{MODULE}/libscipy_openblas.so": (options.openblas / "lib" / "libscipy_openblas.so").read_bytes(),
        f"{MODULE}/__init__.py": MODULE_INIT.encode(),
        **{f"{MODULE}/{name}": data for name, data in modules.items()},
    }
    digest = hashlib.sha256()
    for name in sorted(payload):
        digest.update(name.encode() + payload[name])
    full = f"{release}+{digest.hexdigest()[:8]}"
    tag = f"py3-none-manylinux_{options.glibc.replace('.', '_')}_x86_64"
    info = f"{MODULE}-{full}.dist-info"
    files = dict(payload)
    for name, data in notices.items():
        files[f"{info}/licenses/{name}"] = data
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.4\nName: {MODULE}\nVersion: {full}\n"
        "Summary: The native library of Pliant, soft bodies for Blender\n"
        "License-Expression: GPL-3.0-or-later AND Apache-2.0 AND BSL-1.0 AND BSD-3-Clause AND MIT AND LGPL-2.1-or-later "
        "AND GPL-3.0-or-later WITH GCC-exception-3.1\n" + "".join(f"License-File: {name}\n" for name in sorted(notices))
    ).encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: pliant\nRoot-Is-Purelib: false\nTag: {tag}\n").encode()
    record = ""
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(files[name])}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    for old in options.out.glob(f"{MODULE}-*.whl"):
        old.unlink()
    path = options.out / f"{MODULE}-{full}-{tag}.whl"
    write_zip(path, files)
    return path


def check_wheel(path, glibc, release):
    """Asks auditwheel what it needs, and loads it alone."""
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(path)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    tag = re.search(r'platform\s+tag:\s+"manylinux_2_(\d+)_x86_64"', shown.stdout)
    if shown.returncode != 0 or not tag or int(tag[1]) > int(glibc.split(".")[1]):
        raise Problem(f"auditwheel does not find {path.name} fit for glibc {glibc}:\n{shown.stdout}")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        library = Path(folder, MODULE, "libpliant.so")
        done = subprocess.run(
            [sys.executable, "-I", "-c", LOADS, str(library)],
            env={},
            cwd="/",
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode != 0:
            raise Problem(f"The library does not load by itself:\n{done.stdout}")
        said = json.loads(done.stdout)
        strangers = [f for f in said["files"] if not f.startswith(folder)]
        if said["pliant_version"] != release or "zstd" not in said["pliant_build_info"] or strangers:
            raise Problem(f"The library is not what was meant to be packed: {said}")
    print(f"    needs glibc 2.{tag[1]} at most; {said['pliant_build_info']}")


def addon_files():
    """What of the add-on's folder an artist gets, as {name: bytes}."""
    with open(ADDON / "blender_manifest.toml", "rb") as file:
        patterns = tomllib.load(file)["build"]["paths_exclude_pattern"]

    def left_out(relative):
        for pattern in patterns:
            for part in (relative, *list(relative.parents)[:-1]):
                name = f"/{part}" if pattern.startswith("/") else part.name
                if fnmatch(name, pattern.rstrip("/")):
                    return True
        return False

    files = {}
    for path in ADDON.rglob("*"):
        relative = path.relative_to(ADDON)
        if path.is_file() and not left_out(relative):
            files[relative.as_posix()] = path.read_bytes()
    loose = [name for name in files if name.endswith((".so", ".dll", ".dylib"))]
    if loose:
        raise Problem(f"Libraries belong in the wheel, not in the add-on's folder: {', '.join(loose)}.")
    return files


def manifest(wheel, platform):
    """The manifest of the packed extension: the checkout's, with its platform and wheel."""
    lines = (ADDON / "blender_manifest.toml").read_text()
    head, table, rest = lines.partition("\n[permissions]")
    rest = rest.partition("\n[build]")[0]
    added = f'platforms = ["{platform}"]\nwheels = ["./wheels/{wheel.name}"]\n'
    text = (
        head.replace("# bash addon/build adds the platform and the wheel that carries the native library.\n", "")
        + added
        + table
        + rest
    )
    tomllib.loads(text)
    return text.encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--openblas", type=Path, required=True, help="folder of scipy_openblas32")
    parser.add_argument("--zstd", type=Path, required=True, help="folder of zstd's sources")
    parser.add_argument("--wheels", type=Path, required=True, help="folder of manifold3d's wheels")
    parser.add_argument("--pythons", required=True, help="versions of Python, with spaces")
    parser.add_argument("--glibc", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    platform = "linux-x64"
    try:
        release = version()
        wheel = make_wheel(options, release)
        check_wheel(wheel, options.glibc, release)
        files = addon_files()
        files["blender_manifest.toml"] = manifest(wheel, platform)
        files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
        files[f"wheels/{wheel.name}"] = wheel.read_bytes()
        path = options.out / f"pliant-{release}-{platform}.zip"
        write_zip(path, files)
    except Problem as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    print(f"    {len(files)} files, {path.stat().st_size / 1e6:.1f} MB")
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
