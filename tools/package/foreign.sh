#!/usr/bin/env bash
# Unpacks the libraries of Debian's arm64 that btftool is built with into FOLDER, with their paths below /, and installs the
# cross compiler. The libraries are not installed, since not all of them can be for two architectures at a time.
#
#   foreign.sh FOLDER [PACKAGE...]     PACKAGE: additional packages
#
# Exit codes: 0 nothing is missing, 2 failed.
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/../.."

folder=${1:?usage: foreign.sh FOLDER [PACKAGE...]}
shift
mapfile -t wanted < <(sed -n 's/^ *needs(\([a-z0-9.+-]*\).*/\1/p' lib/libraries.cmake | sort -u)
wanted+=("$@")

tools/packages.sh cross || exit 2
if ! dpkg --print-foreign-architectures | grep -qx arm64; then
  as_root=()
  (( EUID == 0 )) || as_root=(sudo)
  "${as_root[@]}" dpkg --add-architecture arm64
  "${as_root[@]}" apt-get update -qq
fi
mkdir -p -- "$folder"
cd -- "$folder"
# fetch PACKAGE...: downloads and unpacks packages that are still missing, of arm64 or of all architectures.
fetch() {
  local package
  local -a missing=()
  for package in "$@"; do
    [[ ! -e $package.unpacked ]] || continue
    # grep must read to the end, since apt-cache fails if it cannot write.
    apt-cache show "$package" | grep '^Architecture: all' >/dev/null || package+=:arm64
    missing+=("$package")
  done
  (( ${#missing[@]} > 0 )) || return 0
  apt-get download -qq -o APT::Sandbox::User=root "${missing[@]}" || { echo "foreign.sh: cannot download ${missing[*]}" >&2; exit 2; }
  for file in *.deb; do
    dpkg-deb -x "$file" .
    mv -- "$file" "${file%%_*}.unpacked"
  done
}
fetch "${wanted[@]}"
# The packages above have the headers; these are their libraries. Those of C and C++ come with the compiler.
mapfile -t libraries < <(for package in "${wanted[@]}"; do dpkg-deb -f "$package.unpacked" Depends; done | tr ',' '\n' |
  sed -n 's/^ *\([a-z0-9.+-]*\).*/\1/p' | grep -E '^(lib|zlib)' | grep -vE '^lib(c6|gcc|stdc)' | sort -u)
fetch "${libraries[@]}"
