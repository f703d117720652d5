#!/usr/bin/env bash
# Builds the Python package in BUILD_DIR/python, for the Python that tests/interop/venv.sh has made. Where that cannot
# be, it says so, and the tests of the package are skipped.
#
#   build.sh BUILD_DIR
set -euo pipefail
build=$1
python=$build/interop-venv/bin/python3
log=$build/python-package.log
rm -rf "$build/python"
# A module with a sanitizer in it cannot be loaded by a Python without.
grep -q '^BTF_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" && exit 0
if [[ ! -f $build/interop-venv/installed.txt ]]; then
  echo "build.sh: without the packages of tests/interop/requirements.txt the Python package is not built"
elif ! cmake -S . -B "$build" -DBTF_PYTHON=ON -DPython_EXECUTABLE="$(realpath -s -- "$python")" >"$log" 2>&1; then
  # Most often there is no Python.h: the package python3-dev has it.
  echo "build.sh: the Python package cannot be configured: $(grep -m 1 -A 2 -i error "$log" | tr -s '\n ' ' ')"
  cmake -S . -B "$build" -DBTF_PYTHON=OFF >/dev/null
else
  cmake --build "$build" --parallel "$(nproc)" --target btf_python
fi
