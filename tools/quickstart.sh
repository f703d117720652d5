#!/usr/bin/env bash
# From a fresh clone to a first result: installs missing packages, builds btftool into build/, and converts and compares a test
# file. A second run builds nothing. Kernels are compiled for this machine's CPU only, which is faster; on other CPUs btftool
# then runs slower (docs/install.md, section 4).
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/.."

tools/packages.sh build

# An existing build, as from tests/run.sh, keeps its options.
options=()
[[ -f build/CMakeCache.txt ]] || options=(-G Ninja -DBUILD_TESTING=OFF -DBTF_NATIVE=ON)
cmake -S . -B build "${options[@]}"
cmake --build build --target btftool --parallel "$(nproc)"

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cp testdata/good/mixed.btf "$scratch"
PATH=$PWD/build/bin:$PATH
cd -- "$scratch"

# show ARGUMENT...: prints the command, then runs it.
show() {
  printf '\n$ btftool%s\n' "$(printf ' %q' "$@")"
  btftool "$@"
}

show inspect mixed.btf
show convert --tensor 0 --layout kHWC8 --dtype fp16 mixed.btf hwc8.btf
show diff --tensor 0 --rtol 1e-3 hwc8.btf mixed.btf
