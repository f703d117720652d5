#!/usr/bin/env bash
# Runs the C examples of docs/examples/.
#
#   examples.sh READ_TENSOR WRITE_AND_DIFF BTFTOOL SOURCE_DIR
set -euo pipefail

read_tensor=$1 write_and_diff=$2 btftool=$3 testdata=$4/testdata
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "$scratch"

# expect TEXT COMMAND...: what it prints, and exit code 0.
expect() {
  local printed
  printed=$("${@:2}") || { echo "${*:2}: exit code $?" >&2; exit 1; }
  [[ $printed == "$1" ]] || { printf '%s printed\n%s\n' "${*:2}" "$printed" >&2; exit 1; }
}

expect $'0 float32 kLINEAR 1x3x8x8\n1 float32 kLINEAR 16x3x3x3\n2 int64 kLINEAR 4\n3 float32 coo 64x64' \
  "$read_tensor" "$testdata/good/mixed.btf"
expect $'1\n3\n8\n8\n4 elements, 0 rounded' "$read_tensor" "$testdata/good/mixed.btf" 2
expect 'same: 0 of 30 elements mismatched, largest error 0.0015626' "$write_and_diff" actual.btf golden.btf
"$btftool" validate --quiet actual.btf golden.btf
expect $'0 float16 kHWC8 1x3x2x5' "$read_tensor" actual.btf
if "$read_tensor" "$testdata/bad/data-past-end.btf" 1 2>error; then
  echo "a bad file was read" >&2
  exit 1
fi
grep -q 'tensor 1' error
