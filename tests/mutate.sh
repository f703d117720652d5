#!/usr/bin/env bash
# Do the tests notice when the library is wrong? Changes lib/ in one place, builds what depends on it, runs the
# tests, and again: N changes that compile. By hand; it takes a minute or more for each.
#
#   tests/mutate.sh N [SEED]
#
# Works on a copy of the tree in build-mutate/ (MUTATE_DIR takes another place), which keeps the lines of all
# runs in mutants.tsv: what was seen is not tried again. At the end the survivors are listed.
# docs/testing.md says what they were.
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/.."
(( $# == 1 || $# == 2 )) || { echo "usage: tests/mutate.sh N [SEED]" >&2; exit 2; }

place=$(realpath -m -- "${MUTATE_DIR:-build-mutate}")
mkdir -p -- "$place"
# The tree as it is now; what a run that was stopped left changed is undone too.
rm -rf -- "$place/tree.new"
mkdir -- "$place/tree.new"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --preserve=timestamps -t "$place/tree.new" --
if [[ -d $place/tree ]]; then
  # Same content keeps its time, so that little is built again.
  (cd -- "$place/tree.new" && find . -type f -exec sh -c 'cmp -s -- "$1" "$2/$1" && touch -r "$2/$1" -- "$1"' sh {} "$place/tree" \; || true)
  rm -rf -- "$place/tree"
fi
mv -- "$place/tree.new" "$place/tree"

cmake -S "$place/tree" -B "$place/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS='-O1 -DNDEBUG' \
  -DBUILD_TESTING=ON -DBTF_ASSERTIONS=ON >"$place/configure.log"
nice -n 19 cmake --build "$place/build" --target btftool btf_unit_tests --parallel "${MUTATE_JOBS:-1}" >"$place/build.log" ||
  { tail -20 "$place/build.log"; exit 2; }
exec nice -n 19 python3 tests/mutate/mutate.py "$place" "$@"
