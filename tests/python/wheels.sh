#!/usr/bin/env bash
# Installs the wheels that tools/wheel.sh has made into a new environment of each Python, and runs the tests there that
# need no more than NumPy and ml_dtypes. By hand; the command must be of the same source.
#
#   wheels.sh BTFTOOL FOLDER PYTHON...
set -euo pipefail
(( $# >= 3 )) || { echo "usage: wheels.sh BTFTOOL FOLDER PYTHON..." >&2; exit 2; }
export BTFTOOL PYTHONDONTWRITEBYTECODE=1
BTFTOOL=$(realpath -- "$1")
folder=$(realpath -- "$2")
tests=$(dirname -- "$(realpath -- "$0")")
shift 2
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
failed=0
for python in "$@"; do
  venv=$scratch/${python//\//_}
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-index --find-links "$folder" btftool
  "$venv/bin/pip" install --quiet --disable-pip-version-check hypothesis ml_dtypes numpy pytest
  echo "$("$python" --version), $(cd "$folder" && "$venv/bin/python" -c '
import importlib.metadata as m; d = m.distribution("btftool"); print(*[l for l in d.read_text("WHEEL").splitlines() if l.startswith("Tag")])')"
  (cd "$scratch" && "$venv/bin/python" -m pytest -q -p no:cacheprovider "$tests") || failed=1
done
exit "$failed"
