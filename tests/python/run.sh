#!/usr/bin/env bash
# Runs the tests of the Python package that build.sh has built. Says "skipped" where it has not.
#
#   run.sh BTFTOOL [PYTEST ARGUMENT...]
set -euo pipefail
build=$(realpath -- "$(dirname -- "$1")/..")
export BTFTOOL=$1 PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1
shift
if ! compgen -G "$build/python/btf/_btf*.so" >/dev/null; then
  echo "skipped: the Python package was not built"
  exit
fi
exec "$build/interop-venv/bin/python3" -m pytest -q -p no:cacheprovider "$@" "$(dirname -- "$(realpath -- "$0")")"
