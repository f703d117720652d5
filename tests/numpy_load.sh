#!/usr/bin/env bash
# Runs one of the programs that ask NumPy. Says "skipped" where there is no Python with NumPy.
#
#   numpy_load.sh PROGRAM.py BTFTOOL SOURCE_DIR
set -euo pipefail
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import numpy' 2>/dev/null; then
    exec "$python" -B "$3/tests/$1" "$2" "$3/testdata"
  fi
done
echo "skipped: no Python with NumPy"
