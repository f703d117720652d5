#!/usr/bin/env bash
# Builds the library and the unit tests for aarch64 with Debian's cross compiler, with warnings as
# errors, and runs the tests of the kernels under qemu-user. By hand; needs root or sudo for packages.
#
#   aarch64.sh [TEST...]     Catch2 names or tags instead of the kernels' tests; '*' is all of them
#
# QEMU_CPU chooses the CPU (max, with SVE, by default; cortex-a57 has NEON only), BUILD_DIR the
# build directory (build-aarch64). Exit codes: 0 passed, 1 a test failed, 2 could not build.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build-aarch64}
here=(g++-aarch64-linux-gnu qemu-user)
foreign=(libc6 libstdc++6 libzstd-dev zlib1g-dev libisal-dev libxxhash-dev libhwy-dev libfmt-dev libspdlog-dev libpng-dev libpugixml-dev)

say() {
  echo "aarch64.sh: $*" >&2
}

installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

install_packages() {
  local package
  local -a missing=() as_root=()
  for package in "${here[@]}" "${foreign[@]/%/:arm64}"; do
    installed "$package" || missing+=("$package")
  done
  (( ${#missing[@]} > 0 )) || return 0
  type -P apt-get >/dev/null || { say "missing, and there is no apt-get: ${missing[*]}"; return 1; }
  (( EUID == 0 )) || as_root=(sudo)
  say "installing ${missing[*]}"
  "${as_root[@]}" dpkg --add-architecture arm64
  "${as_root[@]}" apt-get update -qq
  # Nothing that is there may go for it.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends --no-remove "${missing[@]}"
}

# Catch2's library cannot be installed for two architectures, so this one is only unpacked.
fetch_catch2() {
  [[ -e $build/catch2/usr/lib/cmake/Catch2/Catch2Config.cmake ]] && return
  mkdir -p "$build/catch2"
  (cd "$build/catch2" && apt-get download -qq catch2:arm64 && dpkg-deb -x catch2_*.deb .)
}

prepare() {
  "$root/tools/packages.sh" build test && install_packages && fetch_catch2 &&
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBTF_WERROR=ON \
      -DBUILD_TESTING=ON -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
      -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
      -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64 \
      -DCatch2_DIR="$build/catch2/usr/lib/cmake/Catch2" &&
    cmake --build "$build" --target btf btf_unit_tests -j "${JOBS:-$(nproc)}"
}

prepare >&2 || exit 2

(( $# > 0 )) || set -- 'cast runs*' 'nibble*' 'compare runs*' 'same bits*' 'layout*' 'plan*' 'transpose*' 'stream_*' 'byte planes*'
status=0
for tests in "$@"; do
  say "$tests"
  qemu-aarch64 ${QEMU_CPU:+-cpu "$QEMU_CPU"} "$build/tests/btf_unit_tests" "$tests" || status=1
done
exit "$status"
