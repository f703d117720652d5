#!/usr/bin/env bash
# The library and the programs are linked as a distribution asks for: position independent, all
# symbols bound at the start and read-only from then on, no executable stack, and guarded.
#
#   hardening.sh LIBRARY_OR_PROGRAM...
set -euo pipefail

failed=0
# has FILE WHAT PATTERN OPTION...: readelf with these options shows the pattern.
has() {
  local file=$1 what=$2 pattern=$3
  shift 3
  LC_ALL=C readelf -W "$@" -- "$file" >"$scratch" || exit 2
  grep -qE -- "$pattern" "$scratch" || { echo "hardening: ${file##*/}: no $what" >&2; failed=1; }
}

(( $# > 0 )) || { echo "usage: hardening.sh LIBRARY_OR_PROGRAM..." >&2; exit 2; }
scratch=$(mktemp)
trap 'rm -f -- "$scratch"' EXIT
for file in "$@"; do
  has "$file" 'position independence' 'Type: +DYN' --file-header
  has "$file" 'relro' 'GNU_RELRO' --program-headers
  has "$file" 'binding at the start' '\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW' --dynamic
  has "$file" 'stack without execution' 'GNU_STACK.* RW +0x' --program-headers
  has "$file" 'stack protector' '__stack_chk_fail' --dyn-syms
done
exit "$failed"
