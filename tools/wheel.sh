#!/usr/bin/env bash
# Makes the sdist of the Python package, and from it a wheel for each Python; checks them, and lists their SHA-256.
#
#   wheel.sh [-o FOLDER] [PYTHON...]
#
# FOLDER: build/dist by default. PYTHON: a command such as python3.12; by default the installed ones from 3.10 to 3.13, or
# python3. From 3.12 on, one wheel serves all later versions, so only one is made.
# Exit codes: 0 made and checked, 2 failed.
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/.."

say() {
  echo "wheel.sh: $*" >&2
}

fail() {
  say "$*"
  exit 2
}

folder=build/dist
while getopts o: option; do
  case $option in
    o) folder=$OPTARG ;;
    *) fail "usage: wheel.sh [-o FOLDER] [PYTHON...]" ;;
  esac
done
shift $((OPTIND - 1))
if (( $# == 0 )); then
  for python in python3.{10..13}; do
    "$python" -c '' 2>/dev/null && set -- "$@" "$python"
  done
  (( $# > 0 )) || set -- python3
fi

tools/packages.sh build static || exit 2
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

# run MESSAGE COMMAND...: shows the output of the command only if it fails, and then exits with the message.
run() {
  "${@:2}" >"$scratch/log" 2>&1 || { tail -40 "$scratch/log" >&2; fail "$1"; }
}

# environment FOLDER PYTHON: a virtual environment with the tools that make and check wheels.
environment() {
  "$2" -m venv "$1" >/dev/null || fail "$2 cannot make a virtual environment; on Debian, install python3-venv"
  run "the packages of tools/wheel-requirements.txt cannot be installed for $2" \
    "$1/bin/python3" -m pip install --disable-pip-version-check -r tools/wheel-requirements.txt
}

environment "$scratch/tools" "$1"
PATH=$scratch/tools/bin:$PATH
run "the sdist cannot be made" python -m build --sdist --outdir "$scratch/made" lib/python
sdist=$(echo "$scratch"/made/*.tar.gz)
# Wheels are made from it, which shows that it is complete.
mkdir "$scratch/source"
tar -xf "$sdist" -C "$scratch/source"
say "made ${sdist##*/}"

stable=
for python in "$@"; do
  version=$("$python" -c 'import sys; print(sys.version_info[1])') || fail "$python is not a Python interpreter"
  if (( version >= 12 )); then
    [[ -z $stable ]] || continue
    stable=1
  fi
  # The objects that do not depend on Python are compiled once.
  environment "$scratch/$version" "$python"
  run "$python: the wheel cannot be made" "$scratch/$version/bin/pip" wheel "$scratch"/source/* --disable-pip-version-check --no-deps \
    --no-build-isolation --wheel-dir "$scratch/$version/made" -Cbuild-dir="$scratch/objects"
  run "$python: the wheel needs libraries that other systems do not have" \
    auditwheel repair --wheel-dir "$scratch/made" "$scratch/$version/made"/*.whl
  say "made $(basename -- "$scratch/$version/made"/*.whl)"
done

run "the check of the wheels' contents failed" check-wheel-contents "$scratch"/made/*.whl
[[ -z $stable ]] || run "the module does not keep to the stable ABI" abi3audit --strict "$scratch"/made/*abi3*.whl
mv -- "$scratch"/made/* "$folder"
cd -- "$folder"
sha256sum -- *.tar.gz *.whl >SHA256SUMS
cat SHA256SUMS
