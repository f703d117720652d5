#!/usr/bin/env bash
# A btftool that is one file: it asks for no library and no loader, runs where nothing else is, and does what the other does.
#
#   static.sh [-e EMULATOR] BTFTOOL [CASE.sh...]
#
# EMULATOR (qemu-aarch64-static) runs a program of another machine. CASE: those of tests/cli by default.
# Exit codes: 0 so, or skipped, which it says; 1 not so; 2 wrong usage.
set -euo pipefail

fail() {
  echo "static.sh: $*" >&2
  exit 1
}

emulator=
while getopts e: option; do
  case $option in
    e) emulator=$(type -P "$OPTARG") || fail "there is no $OPTARG" ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
(( $# > 0 )) || { echo "usage: static.sh [-e EMULATOR] BTFTOOL [CASE.sh...]" >&2; exit 2; }
[[ -x $1 ]] || { echo "skipped: no static btftool was built at $1"; exit; }
tool=$(realpath -- "$1")
shift
tests=$(realpath -- "$(dirname -- "$0")/..")
testdata=$tests/../testdata
(( $# > 0 )) || set -- "$tests"/cli/cases/*.sh
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

LC_ALL=C readelf --wide --program-headers --dynamic -- "$tool" >"$scratch/headers"
! grep -E 'INTERP|\(NEEDED\)|R(UN)?PATH' "$scratch/headers" || fail "it asks for a loader or a library"

# Alone in a folder, with nothing of the system: no library, no locale, no /proc, not even a folder for temporary files.
root=$scratch/root
mkdir -- "$root" "$scratch/bin"
cp -- "$tool" "$root/btftool"
program=(/btftool)
if [[ -n $emulator ]]; then
  cp -- "$emulator" "$root/emulator"
  program=(/emulator /btftool)
fi
enter=(chroot "$root")
(( EUID == 0 )) || enter=(unshare --map-root-user --root="$root")
# alone ARGUMENT...
alone() {
  env LC_ALL=de_DE.UTF-8 "${enter[@]}" "${program[@]}" "$@"
}
if (( EUID == 0 )) || unshare --map-root-user true 2>/dev/null; then
  version=$(alone --version) || fail "it does not run where nothing else is"
  cp -- "$testdata/good/mixed.btf" "$root"
  listed=$(alone inspect mixed.btf)
  [[ $listed == "mixed.btf: BTF, 4 tensors, 3144 bytes"* ]] || fail "alone, inspect prints: $listed"
  alone -q -j 2 convert --tensor 0 --dtype fp16 --layout hwc8 mixed.btf out.btf.zst || fail "alone, convert fails"
  alone diff --close --html page.html --tensor 0 out.btf.zst mixed.btf >"$scratch/diff" || fail "alone, diff fails: $(<"$scratch/diff")"
  [[ -s $root/page.html ]] || fail "alone, diff writes no page"
  echo "alone: $version"
else
  echo "not tried alone: this user may have no root of its own"
fi

# All that is said of the other one.
if [[ -n $emulator ]]; then
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$emulator" "$tool" >"$scratch/bin/btftool"
  chmod +x "$scratch/bin/btftool"
else
  ln -- "$tool" "$scratch/bin/btftool" 2>/dev/null || cp -- "$tool" "$scratch/bin/btftool"
fi
# A case that is skipped is no reason to call this test skipped.
printf '%s\0' "$@" | xargs -0 -n 8 -P "${JOBS:-$(nproc)}" bash -c '
  code=0
  bash "$0" "$1" "$2" "${@:3}" || code=$?
  (( code == 0 || code == 77 ))' "$tests/cli/run_case.sh" "$scratch/bin/btftool" "$testdata" | sed 's/^skipped/left out/' ||
  fail "not as the cases of tests/cli expect"
echo "$# cases"
