#!/usr/bin/env bash
# From a fresh clone to a first result: installs what is missing, builds btftool into build/, and runs
# the main job on a test file. Run again, it builds nothing. Kernels are compiled for
# this machine's CPU, which takes less time: on others it runs slower (docs/install.md, section 4).
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/.."

tools/packages.sh build

# An existing build keeps its options: it may have been made by tests/run.sh or by hand.
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
