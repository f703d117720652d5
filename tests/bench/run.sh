#!/usr/bin/env bash
# File-to-file benchmarks: btftool against a loop of pread and pwrite over the same bytes, and diff
# against cmp, job and limit in turn, as median ratios. Absolute times mean nothing on a shared
# machine. Usage: tests/bench/run.sh [RUNS]; needs build/ (see README.md) and 2 GB in $TMPDIR.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
btftool=$here/../../build/bin/btftool
runs=${1:-7}
[ -x "$btftool" ] || { echo "$0: build first: ./tools/quickstart.sh" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"${CXX:-g++}" -std=c++23 -O2 -o floor "$here/floor.cc"
./floor make in.btf
cp in.btf same.btf
"$btftool" -q convert --dtype fp16 in.btf half.btf
"$btftool" -q convert --layout kHWC8 half.btf hwc8.btf

# Microseconds that a command takes.
elapsed() {
  local begin=$EPOCHREALTIME
  "$@" >/dev/null || [ $? -eq 1 ]
  local end=$EPOCHREALTIME
  echo $((${end/./} - ${begin/./}))
}

# Median of the numbers on stdin.
median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

# compare NAME GOAL THREADS LIMIT... -- JOB...
compare() {
  local name=$1 goal=$2 threads=$3
  shift 3
  local limit=()
  while [ "$1" != -- ]; do limit+=("$1"); shift; done
  shift
  elapsed "${limit[@]}" >/dev/null
  elapsed "$@" >/dev/null
  for ((i = 0; i < runs; ++i)); do
    local a b
    a=$(elapsed "$@")
    b=$(elapsed "${limit[@]}")
    awk -v a="$a" -v b="$b" 'BEGIN {printf "%.3f\n", a / b}'
  done >ratios
  printf '| %-42s | %d | %6.2f | %6s |\n' "$name" "$threads" "$(median <ratios)" "$goal"
}

convert() {
  local name=$1 goal=$2 in=$3
  shift 3
  "$btftool" -q convert "$@" "$in" out.btf
  local bytes
  bytes=$(stat -c %s out.btf)
  for threads in 1 2; do
    rm -f out.btf floor.out
    compare "$name" "$goal" "$threads" ./floor copy "$in" floor.out "$bytes" -- \
      "$btftool" -q -j "$threads" convert "$@" "$in" out.btf
  done
}

echo "| job | threads | ratio | goal |"
echo "|---|---|---|---|"
compare "cp" "" 1 ./floor copy in.btf floor.out "$(stat -c %s in.btf)" -- cp in.btf out.btf
convert "copy" 1.25 in.btf
convert "float32 -> float16" 1.25 in.btf --dtype fp16
convert "float32 -> float8_e4m3fn" 1.25 in.btf --dtype fp8
convert "float32 -> int8" 1.25 in.btf --dtype int8
convert "float16 -> float32" 1.25 half.btf --dtype fp32
convert "float32 to kHWC" 1.35 in.btf --layout kHWC
convert "float32 to kCHW32" 1.25 in.btf --layout kCHW32
convert "float32 to kHWC8 float16" 1.40 in.btf --layout kHWC8 --dtype fp16
convert "kHWC8 float16 to kLINEAR" "" hwc8.btf --layout kLINEAR
for threads in 1 2; do
  compare "diff of equal files, over cmp" .5 "$threads" cmp in.btf same.btf -- \
    "$btftool" -j "$threads" diff -q in.btf same.btf
done
compare "diff kHWC8 float16, float16; over same layout" 1.5 1 \
  "$btftool" -j 1 diff -q half.btf half.btf -- "$btftool" -j 1 diff -q hwc8.btf half.btf
