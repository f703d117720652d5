#!/usr/bin/env bash
# Builds everything, with warnings as errors, and runs all tests. Arguments go to ctest:
#
#   tests/run.sh -R cli
#   BUILD_DIR=build-asan tests/run.sh
#
# BUILD_DIR (default: build) keeps the options it was configured with, sanitizers for instance:
#
#   cmake -B build-asan -G Ninja -DBTF_SANITIZE=address,undefined
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/.."

tools/packages.sh build static test

build=${BUILD_DIR:-build}
# The cache keeps these, and tools/quickstart.sh does not touch them: the two never rebuild each other's work.
options=(-DBTF_WERROR=ON -DBTF_ASSERTIONS=ON -DBTF_NATIVE=OFF -DBUILD_TESTING=ON)
[[ -f $build/CMakeCache.txt ]] || options+=(-G Ninja)
cmake -S . -B "$build" "${options[@]}"
cmake --build "$build" --parallel "$(nproc)"
tests/interop/venv.sh "$build"
tests/python/build.sh "$build"
tests/package/build.sh "$build"

exec ctest --test-dir "$build" --parallel "$(nproc)" --output-on-failure --no-tests=error "$@"
