#!/usr/bin/env bash
# Runs one of the Python programs here. Says "skipped" where there is no python3.
#
#   run.sh SCRIPT.py BTFTOOL [ARGUMENT...]
set -euo pipefail
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
  echo "skipped: no python3 of version 3.8 or later"
  exit
fi
script=$(dirname "$0")/$1
shift
# With libraries of others, where venv.sh has put them.
venv=$(dirname "$1")/../interop-venv
python=python3
[[ -f $venv/installed.txt ]] && python=$venv/bin/python3
exec "$python" -B "$script" "$@"
