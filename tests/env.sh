# SPDX-License-Identifier: GPL-3.0-or-later
# What tests/run and examples/run share: packages, a Python environment, builds. Sourced by bash from
# the project's root. Safe to run again: what is there stays.
#
#   PLIANT_CACHE   where the Python environment is kept (default ~/.cache/pliant)
#   PLIANT_JOBS    how many things run side by side (default: one a core)

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${PLIANT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pliant}
JOBS=${PLIANT_JOBS:-$(nproc 2>/dev/null || echo 2)}
# The library's own LAPACK calls are tiny: threads of its own would only be in the way.
export OPENBLAS_NUM_THREADS=1

PACKAGES="cmake ninja-build gcc libc6-dev binutils liblapacke-dev libopenblas-dev libzstd-dev
          python3 python3-venv"
PACKAGES_FOR_ALL="clang libclang-rt-dev clang-format git" # with libFuzzer
# What bpy links to beyond libc: nothing of it is used without a window, but loading needs it.
BLENDER_PACKAGES="libx11-6 libxi6 libxxf86vm1 libxfixes3 libxrender1 libxext6 libxt6 libxkbcommon0
                  libsm6 libice6 libgl1 libegl1 libgomp1"
LINT_PACKAGES="clang-format clang-tidy git"
RUFF_PACKAGE="ruff==0.14.5" # .pre-commit-config.yaml has it too
WINDOW_PACKAGES="debootstrap debian-archive-keyring"
PYTHON_PACKAGES="numpy scipy-openblas32 manifold3d==3.5.4"

started=$SECONDS

say()
{
    printf '\n==> %s  [%d s]\n' "$*" $((SECONDS - started))
}

give_up()
{
    printf '\nerror: %s\n' "$*" >&2
    exit 1
}

# Runs a command with its output in a log; shows the log's end if it fails.
quietly()
{
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1; then
        printf '    failed: %s\n' "$*"
        tail -n 40 "$log" | sed 's/^/    | /'
        return 1
    fi
}

missing_packages()
{
    local package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
            echo "$package"
    done
}

# Installs Debian packages where it may, otherwise says which are needed.
need_packages()
{
    command -v dpkg-query >/dev/null || return 0 # another system: the build says what it lacks
    local missing
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    missing=$(echo $missing)
    [ "$(id -u)" = 0 ] || give_up "these packages are needed: sudo apt-get install $missing"
    say "Installing $missing"
    export DEBIAN_FRONTEND=noninteractive
    quietly "$CACHE/apt-update.log" apt-get -q -o Acquire::Retries=3 update ||
        echo "    going on with the package lists there are"
    quietly "$CACHE/apt-install.log" apt-get -q -y -o Acquire::Retries=3 install \
        --no-install-recommends $missing || give_up "packages could not be installed: $missing"
}

# A Python that can make virtual environments: the one in PATH, or the system's.
base_python()
{
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import sys, ctypes, ensurepip, venv; sys.exit(sys.version_info < (3, 10))' \
            2>/dev/null; then
            "$python" -c 'import os, sys; print(os.path.realpath(sys.executable))'
            return 0
        fi
    done
    return 1
}

# Makes a Python environment in a folder outside the checkout, with packages of PyPI; once. CHECK is an
# import that shows that it works.
make_environment()
{
    local base=$1 folder=$2 check=$3
    shift 3
    mkdir -p "$CACHE"
    (
        flock 9 # another checkout's run may be making it
        if [ "$(cat "$folder/pliant-ready" 2>/dev/null)" != "$base $*" ] ||
            ! "$folder/bin/python" -c "$check" 2>/dev/null; then
            say "Making a Python environment in $folder"
            rm -rf "$folder"
            quietly "$CACHE/venv.log" "$base" -m venv "$folder" &&
                quietly "$CACHE/pip.log" "$folder/bin/python" -m pip install \
                    --disable-pip-version-check --retries 5 --only-binary :all: "$@" &&
                printf '%s\n' "$base $*" >"$folder/pliant-ready"
        fi
    ) 9>"$CACHE/lock"
}

# Sets PYTHON: an environment with what the tests and examples need.
need_python()
{
    local base version folder
    base=$(base_python) || give_up "Python 3.10 or later with venv is needed"
    version=$("$base" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
    folder=$CACHE/python-$version
    make_environment "$base" "$folder" 'import numpy, manifold3d' $PYTHON_PACKAGES ||
        give_up "a Python environment could not be made in $folder"
    PYTHON=$folder/bin/python
}

# Sets RUFF: the linter and formatter for Python.
need_ruff()
{
    local folder=$CACHE/${RUFF_PACKAGE/==/-}
    make_environment "$(base_python)" "$folder" 'import ruff' "$RUFF_PACKAGE" ||
        give_up "a Python environment could not be made in $folder"
    RUFF=$folder/bin/ruff
}

# The folder of PyPI's OpenBLAS, for the build that is packaged later.
openblas_folder()
{
    "$PYTHON" -c 'import scipy_openblas32, os; print(os.path.dirname(scipy_openblas32.__file__))'
}

# Configures and builds a preset of CMakePresets.json, in build-PRESET; once a run. BUILD_TARGET names
# a part of it; default all.
built=
build()
{
    local preset=$1
    shift
    case " $built " in *" $preset "*) return 0 ;; esac
    say "Building $preset"
    quietly "$ROOT/build-$preset/configure.log" cmake -S "$ROOT" --preset "$preset" "$@" &&
        quietly "$ROOT/build-$preset/build.log" cmake --build "$ROOT/build-$preset" -j "$JOBS" \
            --target "${BUILD_TARGET:-all}" &&
        built+=" $preset"
}
