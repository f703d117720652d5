#!/usr/bin/env bash
# Makes the wheel of the Python package of what BUILD_DIR has built, and installs it in a new environment there, with the
# Python that tests/interop/venv.sh has made. Where that cannot be, it says so, and the tests of the package are skipped.
#
#   build.sh BUILD_DIR
set -euo pipefail
build=$(realpath -- "$1")
python=$build/interop-venv/bin/python3
log=$build/wheel.log
rm -rf "$build/wheel" "$build/wheel-venv"
# A module with a sanitizer in it cannot be loaded by a Python without.
grep -q '^BTF_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" && exit 0

cached() {
  sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}

if [[ ! -f $build/interop-venv/installed.txt ]]; then
  echo "build.sh: without the packages of tests/interop/requirements.txt the Python package is not built"
  exit
fi
prefix=$(cached CMAKE_INSTALL_PREFIX)
# The objects are there: all that is compiled is the module. A note of another run would have the options forgotten.
rm -f "$build/.skbuild-info.json"
made=0
"$python" -m pip wheel lib/python --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$build/wheel" \
  -Cbuild-dir="$build" -Ccmake.build-type="$(cached CMAKE_BUILD_TYPE)" \
  -Ccmake.define.BUILD_TESTING="$(cached BUILD_TESTING)" --verbose >"$log" 2>&1 || made=$?
# The directory is again what it was.
cmake -S . -B "$build" -DCMAKE_INSTALL_PREFIX="$prefix" -DBTF_PYTHON=OFF '-USKBUILD*' '-UPython_*' >/dev/null
if (( made != 0 )); then
  # Most often there is no Python.h: the package python3-dev has it.
  echo "build.sh: the Python package cannot be built: $(grep -m 1 -A 2 -i error "$log" | tr -s '\n ' ' ')"
  exit
fi

python3 -m venv --without-pip "$build/wheel-venv"
"$python" -m pip --python "$build/wheel-venv/bin/python3" install --quiet --disable-pip-version-check --no-deps --no-index \
  "$build"/wheel/*.whl
# What the tests compare with is seen, and is not the package's own.
site=$("$build/wheel-venv/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/interop.pth"
