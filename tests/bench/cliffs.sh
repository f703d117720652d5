#!/usr/bin/env bash
# Which operations cost far more than the bytes that they move? See cliffs.py, which takes the options.
#
#   cliffs.sh BTFTOOL [OPTION...]
#
# With the libraries of peers where tests/interop/venv.sh has put them.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
venv=$(dirname "${1?"usage: $0 BTFTOOL [OPTION...]"}")/../interop-venv
python=python3
[[ -f $venv/installed.txt ]] && python=$venv/bin/python3
exec "$python" -B "$here/cliffs.py" "$@"
