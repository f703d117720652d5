#!/usr/bin/env bash
# What libbtf exports: the C functions of c_symbols.txt with their versions, no more and no less, and
# names of C++'s namespace btf. Nothing of the C++ library, zstd or another dependency.
#
#   run.sh [--update] LIBBTF.so
#
# --update writes c_symbols.txt. A line may be added; one that was released is never changed.
set -euo pipefail

update=no
if [[ ${1-} == --update ]]; then
  update=yes
  shift
fi
[[ $# -eq 1 && -f $1 ]] || { echo "usage: run.sh [--update] LIBBTF.so" >&2; exit 2; }
expected=$(dirname -- "$(realpath -- "$0")")/c_symbols.txt
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

# Version nodes are absolute symbols with their own names.
LC_ALL=C nm -D --defined-only --with-symbol-versions -- "$1" | awk '$2 != "A" { print $3 }' |
  LC_ALL=C sort >"$scratch/all"
grep -E '^btf_' "$scratch/all" >"$scratch/c" || true
if [[ $update == yes ]]; then
  cp -- "$scratch/c" "$expected"
  exit
fi

failed=0
diff -u --label 'c_symbols.txt' --label 'exported' -- "$expected" "$scratch/c" || failed=1
if grep -vE '^btf_|^_Z(N|NK|T[ISV]N)3btf.*@@BTF_CXX_[0-9.]+$' "$scratch/all"; then
  echo "exports: these are no names of this library" >&2
  failed=1
fi
grep -q '^_ZN3btf' "$scratch/all" || { echo "exports: no C++ function" >&2; failed=1; }
exit "$failed"
