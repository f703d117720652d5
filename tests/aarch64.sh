#!/usr/bin/env bash
# Builds the library and the unit tests for aarch64 with Debian's cross compiler, with warnings as
# errors, and runs the tests of the kernels under qemu-user. By hand; needs root or sudo for packages.
# The program and its cases: `tools/release.sh aarch64`.
#
#   aarch64.sh [TEST...]     Catch2 names or tags instead of the kernels' tests; '*' is all of them
#
# QEMU_CPU chooses the CPU (max, with SVE, by default; cortex-a57 has NEON only), BUILD_DIR the
# build directory (build-aarch64). Exit codes: 0 passed, 1 a test failed, 2 could not build.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build-aarch64}
libraries=$build/foreign/usr/lib/aarch64-linux-gnu  # unpacked, not where a loader looks

say() {
  echo "aarch64.sh: $*" >&2
}

prepare() {
  "$root/tools/packages.sh" build test && "$root/tools/package/foreign.sh" "$build/foreign" catch2 &&
    cmake -C "$root/tools/presets/aarch64_machine.cmake" -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBTF_WERROR=ON \
      -DBUILD_TESTING=ON -DCMAKE_EXE_LINKER_FLAGS="-Wl,-rpath-link,$libraries" &&
    cmake --build "$build" --target btf btf_unit_tests -j "${JOBS:-$(nproc)}"
}

export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu QEMU_SET_ENV=LD_LIBRARY_PATH=/usr/aarch64-linux-gnu/lib:$libraries:$build/foreign/lib/aarch64-linux-gnu
prepare >&2 || exit 2

(( $# > 0 )) || set -- 'cast runs*' 'nibble*' 'compare runs*' 'same bits*' 'layout*' 'plan*' 'transpose*' 'stream_*' 'byte planes*' \
  'score runs*' 'judge runs*' 'widen runs*' 'number runs*' 'predicted numbers*' 'agreement*' 'codes that are not zero*'
status=0
for tests in "$@"; do
  say "$tests"
  qemu-aarch64-static ${QEMU_CPU:+-cpu "$QEMU_CPU"} "$build/tests/btf_unit_tests" "$tests" || status=1
done
exit "$status"
