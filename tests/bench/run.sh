#!/usr/bin/env bash
# Benchmarks: btftool against what the system alone costs and against peers, job and reference in
# turn, as medians of ratios. Absolute times mean nothing on a shared machine.
#
#   run.sh [--runs N] [--large]
#
# Needs build/ (see README.md) and 3 GB in $TMPDIR; --large adds files of 1 to 8 GiB and needs 20 GB.
# Peers are measured where they are installed: hdf5-tools, python3-numpy, python3-torch. The kernels
# need a build with -DBTF_BENCHMARKS=ON, and have oneDNN as a peer (--peers).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$here/../../build
btftool=$build/bin/btftool
runs=7
large=no
while (($# > 0)); do
  case $1 in
    --runs) runs=${2?"$0: --runs needs a number"} && shift ;;
    --large) large=yes ;;
    *) echo "usage: $0 [--runs N] [--large]" >&2 && exit 2 ;;
  esac
  shift
done
[ -x "$btftool" ] || { echo "$0: build first: ./tools/quickstart.sh" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"${CXX:-g++}" -std=c++23 -O2 -pthread -o floor "$here/floor.cc"

# Microseconds that a command takes. Exit code 1 is a result, of diff and its like.
elapsed() {
  local begin=$EPOCHREALTIME
  "$@" >/dev/null 2>&1 || [ $? -eq 1 ]
  local end=$EPOCHREALTIME
  echo $((${end/./} - ${begin/./}))
}

# Median of the numbers on stdin.
median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

# Time of the command in the array `job` over that of the one in `limit`.
ratio() {
  elapsed "${limit[@]}" >/dev/null
  elapsed "${job[@]}" >/dev/null
  for ((i = 0; i < runs; ++i)); do
    local a b
    a=$(elapsed "${job[@]}")
    b=$(elapsed "${limit[@]}")
    awk -v a="$a" -v b="$b" 'BEGIN {printf "%.3f\n", a / b}'
  done | median
}

row() { printf '| %-50s | %d | %6.2f | %6s |\n' "$1" "$2" "$(ratio)" "$3"; }

# convert NAME GOAL IN OPTION...: over the plain loop with as many threads
convert() {
  local name=$1 goal=$2 in=$3
  shift 3
  "$btftool" -q convert "$@" "$in" out.btf
  local bytes
  bytes=$(stat -c %s out.btf)
  for threads in 1 2; do
    rm -f out.btf floor.out
    limit=(./floor copy "$in" floor.out "$bytes" "$threads")
    job=("$btftool" -q -j "$threads" convert "$@" "$in" out.btf)
    [ "$threads" = 1 ] || [ -z "$goal" ] || goal=1.30
    row "$name" "$threads" "$goal"
  done
}

./floor make in.btf
cp in.btf same.btf
"$btftool" -q convert --dtype fp16 in.btf half.btf
"$btftool" -q convert --layout kHWC8 half.btf hwc8.btf

echo "File to file, over pread and pwrite with as many threads:"
echo
echo "| job | threads | ratio | goal |"
echo "|---|---|---|---|"
limit=(./floor copy in.btf floor.out "$(stat -c %s in.btf)")
job=(cp in.btf out.btf)
row cp 1 ""
convert copy 1.25 in.btf
convert "float32 to float16" 1.25 in.btf --dtype fp16
convert "float32 to bfloat16" 1.25 in.btf --dtype bf16
convert "float32 to float8_e4m3fn" 1.25 in.btf --dtype fp8
convert "float32 to int8" 1.25 in.btf --dtype int8
convert "float16 to float32" 1.25 half.btf --dtype fp32
convert "float32 to kHWC" 1.35 in.btf --layout kHWC
convert "float32 to kCHW4" 1.25 in.btf --layout kCHW4
convert "float32 to kCHW32" 1.25 in.btf --layout kCHW32
convert "float32 to kHWC8 float16" 1.40 in.btf --layout kHWC8 --dtype fp16
convert "kHWC8 float16 to kLINEAR" "" hwc8.btf --layout kLINEAR

echo
echo "diff, over cmp or another diff:"
echo
echo "| job | threads | ratio | goal |"
echo "|---|---|---|---|"
for threads in 1 2; do
  limit=(cmp in.btf same.btf)
  job=("$btftool" -j "$threads" diff -q in.btf same.btf)
  row "equal files over cmp" "$threads" .5
done
limit=("$btftool" -j 1 diff -q --rtol 1e-2 half.btf in.btf)
job=("$btftool" -j 1 diff -q --rtol 1e-2 hwc8.btf in.btf)
row "kHWC8 float16 with float32, over kLINEAR float16" 1 1.5

echo
echo "Many records, and none:"
echo
echo "| job | threads | ratio | goal |"
echo "|---|---|---|---|"
./floor records many.btf 1000000
./floor records few.btf 10
limit=(./floor headers many.btf)
job=("$btftool" inspect many.btf)
row "inspect of 1,000,000 records over their headers" 1 3
job=("$btftool" inspect --json many.btf)
row "the same with --json" 1 3
limit=("$btftool" inspect --tensor 5 few.btf)
job=("$btftool" inspect --tensor 5 many.btf)
row "inspect --tensor 5 of 1,000,000 records, of 10" 1 ""
printf '\nbtftool --version takes '
for ((i = 0; i < 5 * runs; ++i)); do
  a=$(elapsed "$btftool" --version)
  b=$(elapsed /bin/true)
  echo $((a - b))
done | median | awk '{printf "%.1f ms more than /bin/true (goal: 3)\n", $1 / 1000}'

echo
echo "Peers, time over btftool's with one thread:"
echo
echo "| peer | job | ratio |"
echo "|---|---|---|"
peer() { printf '| %s | %s | %6.1f |\n' "$1" "$2" "$(ratio)"; }
if command -v h5import >/dev/null && command -v h5diff >/dev/null; then
  "$btftool" -q convert --output-spec fp32:linear:128x256x56x56 in.btf in.raw
  h5import in.raw -dims 128,256,56,56 -type FP -size 32 -outfile in.h5
  cp in.h5 same.h5
  rm in.raw
  limit=("$btftool" -j 1 diff -q in.btf same.btf)
  job=(h5diff -d 1e-6 in.h5 same.h5)
  peer "h5diff -d" "diff of equal files (goal: 7)"
  rm in.h5 same.h5
fi
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2>/dev/null || continue
  "$btftool" -q convert in.btf in.npy
  cp in.npy same.npy
  numpy() {
    limit=("$btftool" -q -j 1 convert "${@:3}" in.npy out.btf)
    job=("$python" "$here/peers.py" "$1" in.npy out.npy)
    peer NumPy "$2"
  }
  numpy cast "float32 to float16 (goal: 5)" --dtype fp16
  numpy hwc "float32 to NHWC (goal: 5)" --layout kHWC
  numpy chw32 "float32 to kCHW32 (goal: 5)" --layout kCHW32
  limit=("$btftool" -q -j 1 diff in.npy same.npy)
  job=("$python" "$here/peers.py" diff in.npy same.npy)
  peer "NumPy allclose" "diff of equal files"
  break
done
rm -f ./*.npy out.btf floor.out same.btf many.btf

if [ -x "$build/bench/btf_kernels_bench" ]; then
  echo
  echo "In memory:"
  echo
  "$build/bench/btf_kernels_bench" --table
fi

if "$python" -c "import numpy" 2>/dev/null; then
  echo
  echo "Peers in memory, 32x256x56x56, one thread:"
  echo
  "$python" "$here/peers_memory.py"
fi

if [ "$large" = yes ]; then
  echo
  echo "float32 to kHWC8 float16 by the size of the file, one thread:"
  echo
  echo "| GiB | seconds a GiB, over those of 1 GiB | peak MiB |"
  echo "|---|---|---|"
  first=
  for gib in 1 2 4 8; do
    rm -f big.btf out.btf
    ./floor make big.btf $((gib * 334))
    for ((i = 0; i < 3; ++i)); do elapsed "$btftool" -q -j 1 convert --layout kHWC8 --dtype fp16 big.btf out.btf; done |
      median >time
    peak=$(command time -f %M "$btftool" -q -j 1 convert --layout kHWC8 --dtype fp16 big.btf out.btf 2>&1)
    each=$(($(<time) / gib))
    first=${first:-$each}
    awk -v g=$gib -v e=$each -v f="$first" -v p="$peak" 'BEGIN {printf "| %d | %.2f | %.1f |\n", g, e / f, p / 1024}'
  done
fi
