#!/usr/bin/env bash
# Fuzzes every target for MINUTES in all, and prints how many inputs each has run.
#
#   tests/fuzz/run.sh 2                 all targets, with ASan and UBSan
#   tests/fuzz/run.sh 600 zstd diff     ten hours for two of them
#   SANITIZE= tests/fuzz/run.sh 60      several times as fast, with the assertions of libstdc++ only
#   SEED=1 LEVEL=-O0 tests/fuzz/run.sh 2   the same inputs each time, as far as the time goes, and built in
#                                       less than half the time: a part of CI
#
# What is found is kept in build/fuzz-*/found/TARGET; what was learnt in build/fuzz-*/learnt/TARGET, from
# where the next run goes on. Exit codes: 0 nothing was found, 1 something was, 2 trouble.
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/../.."

usage() {
  echo "usage: run.sh MINUTES [TARGET...]" >&2
  exit 2
}
[[ ${1-} =~ ^[0-9]+$ ]] || usage
minutes=$1
shift

tools/packages.sh build fuzz

sanitize=${SANITIZE-address,undefined}
# Compiling is the longest part of a short run. In a long one without sanitizers, weighing inputs by
# what is rare in them would take a quarter of the time.
kind=sanitized level=${LEVEL:--O1} schedule=()
[[ -n $sanitize ]] || kind=fast level=${LEVEL:--O2} schedule=(-entropic=0)
# Targets may change the directory that they run in.
root=$PWD
build=$(realpath -m -- "${BUILD_DIR:-build/fuzz-$kind}")
if [[ ! -f $build/CMakeCache.txt ]]; then
  CXX=clang++-19 cmake -S . -B "$build" -G Ninja -DBTF_FUZZ=ON -DBTF_SANITIZE="$sanitize" \
    -DBTF_HARDENING=OFF -DBTF_ASSERTIONS=ON -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$level"
fi
cmake --build "$build" --parallel "$(nproc)" --target fuzz_targets

targets=("$@")
(( $# > 0 )) || for program in "$build"/fuzz/*; do targets+=("${program##*/}"); done

# Short inputs are fast ones; these have room for all that a target reads.
longest() {
  case $1 in
    text) echo 200 ;;
    kernels | write) echo 400 ;;
    report | parts) echo 8000 ;;
    zstd) echo 1500 ;;
    *) echo 2600 ;;
  esac
}

run_target() {
  local name=$1 seconds=$2 found=$build/found/$1 learnt=$build/learnt/$1 log=$build/$1.log
  mkdir -p "$found" "$learnt"
  # What has no end in memory or time is found too.
  TMPDIR=/dev/shm "$build/fuzz/$name" -max_total_time="$seconds" -max_len="$(longest "$name")" "${schedule[@]}" -print_funcs=0 \
    -rss_limit_mb=1500 -malloc_limit_mb=300 -timeout=20 -print_final_stats=1 -seed="${SEED:-0}" \
    -artifact_prefix="$found/" "$learnt" "$root/tests/fuzz/corpus/$name" >"$log" 2>&1 && return
  echo "$name: $(grep -ahoE -m 1 'broken: .*|SUMMARY: .*|runtime error: .*' "$log" || tail -n 1 "$log")" >>"$build/broken"
}

rm -rf "$build/broken" "$build/found"
seconds=$(( minutes * 60 * $(nproc) / ${#targets[@]} ))
for name in "${targets[@]}"; do
  while (( $(jobs -rp | wc -l) >= $(nproc) )); do wait -n; done
  run_target "$name" $(( seconds > 0 ? seconds : 1 )) &
done
wait

printf '%-10s %12s %10s %10s\n' target inputs 'a second' coverage
for name in "${targets[@]}"; do
  awk -v name="$name" '
    /^#[0-9]+/ { for (i = 1; i < NF; ++i) if ($i == "cov:") coverage = $(i + 1) }
    /number_of_executed_units/ { inputs = $2 }
    /average_exec_per_sec/ { rate = $2 }
    END { printf "%-10s %12d %10d %10d\n", name, inputs, rate, coverage }' "$build/$name.log"
done | tee "$build/table"
awk '{ sum += $2 } END { printf "%-10s %12d\n", "all", sum }' "$build/table"

if [[ -f $build/broken ]]; then
  cat "$build/broken" >&2
  find "$build/found" -type f >&2
  exit 1
fi
