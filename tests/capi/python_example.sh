#!/usr/bin/env bash
# Runs docs/examples/numpy_ctypes.py where there is NumPy.
#
#   python_example.sh PYTHON LIBBTF BTFTOOL SOURCE_DIR
set -euo pipefail

python=$1 library=$2 btftool=$3 source=$4
if ! "$python" -c 'import numpy' 2>/dev/null; then
  echo "skipped: $python has no NumPy"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
input=$source/testdata/good/mixed.btf
"$python" "$source/docs/examples/numpy_ctypes.py" "$library" "$input" "$scratch/out.btf" | tee "$scratch/printed"
grep -q '^by DLPack: (1, 3, 8, 8) float32 True$' "$scratch/printed"
grep -q '^a box: True$' "$scratch/printed"
grep -q '/nonexistent/x.btf: cannot open' "$scratch/printed"
# It wrote every tensor with its dims in the opposite order.
"$btftool" validate --quiet "$scratch/out.btf"
"$btftool" convert --quiet --tensor 0 --permute 3,2,1,0 "$scratch/out.btf" "$scratch/back.btf"
"$btftool" diff --tensor 0 --rtol 1e-3 "$scratch/back.btf" "$input"
