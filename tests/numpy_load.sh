#!/usr/bin/env bash
# numpy.load reads every .npy that btftool writes. Says "skipped" where there is no Python with NumPy.
#
#   numpy_load.sh BTFTOOL SOURCE_DIR
set -euo pipefail
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import numpy' 2>/dev/null; then
    exec "$python" -B "$2/tests/numpy_load.py" "$1" "$2/testdata"
  fi
done
echo "skipped: no Python with NumPy"
