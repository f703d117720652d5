#!/usr/bin/env bash
# Do the tests notice when the library is wrong? Changes lib/ in one place, builds what depends on it, asks the
# tests that reach that place, and again: N changes that compile. By hand; ten seconds of one CPU for each.
#
#   tests/mutate.sh N [SEED]
#   tests/mutate.sh again       those that survived, once more, by the rest of ctest too: after a test was added
#
# Works on a copy of the tree in build-mutate/ (MUTATE_DIR takes another place; /dev/shm is quicker), which keeps
# the lines of all runs in mutants.tsv: what was seen is not tried again. At the end the survivors are listed.
# docs/testing.md says what they were.
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/.."
(( $# == 1 || $# == 2 )) || { echo "usage: tests/mutate.sh N|again [SEED]" >&2; exit 2; }
tools/packages.sh build test mutate

place=$(realpath -m -- "${MUTATE_DIR:-build-mutate}")
mkdir -p -- "$place"
# The tree as it is now; what a run that was stopped left changed is undone too.
rm -rf -- "$place/tree.new"
mkdir -- "$place/tree.new"
git ls-files -z --cached --others --exclude-standard |
  xargs -0 cp --parents --preserve=timestamps -t "$place/tree.new" --
if [[ -d $place/tree ]]; then
  # Same content keeps its time, so that little is built again.
  (cd -- "$place/tree.new" && find . -type f -exec sh -c \
    'cmp -s -- "$1" "$2/$1" && touch -r "$2/$1" -- "$1"' sh {} "$place/tree" \; || true)
  rm -rf -- "$place/tree"
fi
mv -- "$place/tree.new" "$place/tree"

# build FOLDER [CMAKE_OPTION...]: a linker that takes no second, and nothing linked again that needs not be.
build() {
  local folder=$place/$1
  local linker='-B/usr/lib/llvm-19/bin -fuse-ld=lld'
  shift
  cmake -S "$place/tree" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=None -DBTF_ASSERTIONS=ON -DBUILD_TESTING=ON \
    -DBTF_UNITY=OFF \
    -DCMAKE_EXE_LINKER_FLAGS="$linker" -DCMAKE_SHARED_LINKER_FLAGS="$linker" -DCMAKE_LINK_DEPENDS_NO_SHARED=ON \
    "$@" >"$folder.log" &&
    nice -n 19 cmake --build "$folder" --target "${targets[@]}" --parallel "${MUTATE_JOBS:-1}" >>"$folder.log" ||
    { tail -20 "$folder.log"; exit 2; }
}
targets=(all)
build build -DCMAKE_CXX_FLAGS='-O1 -DNDEBUG'
# Only what is to be reached is counted.
printf '%s\n' '[clang]' default:skip 'source:*/lib/*=allow' >"$place/counted"
targets=(btf_unit_tests btftool)
CXX=clang++-19 build coverage \
  -DCMAKE_CXX_FLAGS="-O1 -DNDEBUG -fprofile-instr-generate -fcoverage-mapping -fprofile-list=$place/counted"
exec nice -n 19 python3 tests/mutate/mutate.py "$place" "$@"
