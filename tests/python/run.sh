#!/usr/bin/env bash
# Runs the tests of the Python package on the wheel that build.sh has made and installed; where it has not, on the package
# in a build tree (-DBTF_PYTHON=ON). Says "skipped" where there is neither.
#
#   run.sh BTFTOOL [PYTEST ARGUMENT...]
set -euo pipefail
build=$(realpath -- "$(dirname -- "$1")/..")
export BTFTOOL=$1 PYTHONDONTWRITEBYTECODE=1
shift
if [[ -x $build/wheel-venv/bin/btftool ]]; then
  python=$build/wheel-venv/bin/python3
elif compgen -G "$build/python/btf/_btf*.so" >/dev/null; then
  python=$build/interop-venv/bin/python3
  export PYTHONPATH=$build/python
else
  echo "skipped: the Python package was not built"
  exit
fi
output=$(mktemp)
trap 'rm -f -- "$output"' EXIT
"$python" -m pytest -q -p no:cacheprovider "$@" "$(dirname -- "$(realpath -- "$0")")" 2>&1 | tee "$output"
# Said when Python ends, after all tests have passed.
! grep '^nanobind: leaked' "$output"
