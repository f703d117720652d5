#!/usr/bin/env bash
# Puts the libraries of Debian's arm64 that btftool is built with into FOLDER, as they lie below /, and sees to it that the
# cross compiler is there. They are not installed: not every library can be for two architectures at a time.
#
#   foreign.sh FOLDER [PACKAGE...]     PACKAGE: more of them
#
# Exit codes: 0 all there, 2 not.
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/../.."

folder=${1:?usage: foreign.sh FOLDER [PACKAGE...]}
shift
of_arm64=(libdeflate-dev libdeflate0 libfmt-dev libfmt9 libhwy-dev libisal-dev libisal2 libpng-dev libpng16-16 libpugixml-dev libpugixml1v5
  libspdlog-dev libspdlog1.10 libxxhash-dev libzstd-dev libzstd1 zlib1g-dev zlib1g "$@")
of_all=(libcli11-dev nlohmann-json3-dev)

tools/packages.sh cross || exit 2
if ! dpkg --print-foreign-architectures | grep -qx arm64; then
  as_root=()
  (( EUID == 0 )) || as_root=(sudo)
  "${as_root[@]}" dpkg --add-architecture arm64
  "${as_root[@]}" apt-get update -qq
fi
mkdir -p -- "$folder"
cd -- "$folder"
missing=()
for package in "${of_arm64[@]/%/:arm64}" "${of_all[@]}"; do
  [[ -e ${package%:*}.unpacked ]] || missing+=("$package")
done
(( ${#missing[@]} > 0 )) || exit 0
apt-get download -qq -o APT::Sandbox::User=root "${missing[@]}" || { echo "foreign.sh: not all there: ${missing[*]}" >&2; exit 2; }
for file in *.deb; do
  dpkg-deb -x "$file" .
  mv -- "$file" "${file%%_*}.unpacked"
done
