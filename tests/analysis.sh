#!/usr/bin/env bash
# What tools say about the code that only look at it, or watch it run. By hand: it takes long.
#
#   tests/analysis.sh clang       clang 19 builds everything without a warning
#   tests/analysis.sh tidy        clang-tidy, with the checks of .clang-tidy
#   tests/analysis.sh cppcheck
#   tests/analysis.sh threads     ThreadSanitizer over what starts threads
#   tests/analysis.sh valgrind    memcheck over a part of the command line's cases
#   tests/analysis.sh             all of them
#
# Each has a folder below build/. Exit codes: 0 no report, 1 there are some, 2 trouble.
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/.."

say() {
  echo "== $*"
}

# clang_folder: configured with clang, warnings as errors, every source by itself as clang-tidy wants them.
clang_folder() {
  [[ -f build/clang/CMakeCache.txt ]] ||
    CXX=clang++-19 cmake -S . -B build/clang -G Ninja -DBTF_WERROR=ON -DBTF_UNITY=OFF >/dev/null
}

run_clang() {
  clang_folder
  cmake --build build/clang --parallel "$(nproc)"
}

run_tidy() {
  clang_folder
  # Tests are left out: Catch2's macros are reported at every use.
  run-clang-tidy-19 -quiet -j "$(nproc)" -p build/clang '/(lib|tools)/.*\.cc$' >build/clang/tidy.log 2>&1 || true
  grep -E '(warning|error):' build/clang/tidy.log | sort -u && return 1
  return 0
}

run_cppcheck() {
  # What is left out, and why:
  #   style, useInitializationList              a matter of taste
  #   internalAstError, syntaxError,            it does not read all of C++23 and no macros of tests
  #   unknownMacro
  #   identicalConditionAfterEarlyExit,         wrong where std::expected is a condition, where a
  #   returnTempReference,                      reference is returned behind a lambda, of ranges, of
  #   mismatchingContainerExpression,           begin() + 0 of what may be empty, and of arrays in
  #   containerOutOfBounds,                     functions
  #   CastIntegerToAddressAtReturn
  local id suppressed=()
  for id in internalAstError syntaxError unknownMacro identicalConditionAfterEarlyExit \
    returnTempReference mismatchingContainerExpression containerOutOfBounds \
    CastIntegerToAddressAtReturn useInitializationList; do
    suppressed+=("--suppress=$id")
  done
  cppcheck --enable=warning,performance,portability --std=c++20 --quiet -j "$(nproc)" "${suppressed[@]}" \
    -I lib -I lib/include --error-exitcode=1 --template='{file}:{line}: {severity}: {message} [{id}]' lib tools
}

run_threads() {
  [[ -f build/tsan/CMakeCache.txt ]] ||
    cmake -S . -B build/tsan -G Ninja -DBTF_SANITIZE=thread -DBTF_WERROR=ON >/dev/null
  cmake --build build/tsan --parallel "$(nproc)" --target btf_unit_tests btftool || return 2
  # Whatever has threads in its name or its ways; a report ends the test.
  TSAN_OPTIONS=halt_on_error=1 ctest --test-dir build/tsan --parallel 1 --output-on-failure --no-tests=error \
    -R "${1-unit.*(thread|parallel|worker|jobs|zstd|compress|shuffle|coo|sort)|cli.*(zstd|compress|shuffle|convert|diff_dir|stdin)}"
}

run_valgrind() {
  local build=${BUILD_DIR:-build} tool
  [[ -x $build/bin/btftool ]] || cmake -S . -B "$build" -G Ninja >/dev/null
  cmake --build "$build" --parallel "$(nproc)" --target btftool || return 2
  tool=$(realpath -- "$build")/bin/btftool
  mkdir -p build/valgrind
  # It knows no AVX-512: then the library takes AVX2. Each process writes its own log.
  rm -f build/valgrind/*
  cat >build/valgrind/btftool <<END
#!/bin/bash
exec valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=99 \\
  --log-file=$PWD/build/valgrind/%p.log $tool "\$@"
END
  chmod +x build/valgrind/btftool
  local case cases=() failed=0
  # What cases print is not compared: it computes long double in 64 bits.
  for case in tests/cli/cases/{inspect,convert,diff,validate,npy,raw,zstd,shuffle}*.sh; do
    # Limits and times that hold without valgrind only.
    [[ $case == *memory* || $case == *speed* || $case == *zstd_python* ]] || cases+=("$case")
  done
  printf '%s\0' "${cases[@]}" |
    xargs -0 -n 1 -P "$(nproc)" tests/cli/run_case.sh build/valgrind/btftool testdata >build/valgrind/cases.txt || true
  find build/valgrind -name '*.log' -size +0 -exec cat {} + | grep . && failed=1
  echo "${#cases[@]} cases, $(find build/valgrind -name '*.log' | wc -l) processes"
  return $failed
}

tools/packages.sh build test fuzz analysis
reports=0
(( $# > 0 )) || set -- clang tidy cppcheck threads valgrind
for what in "$@"; do
  case $what in
    clang | tidy | cppcheck | threads | valgrind) ;;
    *)
      echo "usage: analysis.sh [clang|tidy|cppcheck|threads|valgrind]..." >&2
      exit 2
      ;;
  esac
  say "$what"
  "run_$what" && say "$what: no report" || { say "$what: reports"; reports=1; }
done
exit $reports
