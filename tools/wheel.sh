#!/usr/bin/env bash
# Makes the Python package's sdist, and of that sdist a wheel for every Python given, checks them, and lists their SHA-256.
#
#   wheel.sh [-o FOLDER] [PYTHON...]
#
# FOLDER: build/dist by default. PYTHON: a command such as python3.12; by default those of 3.10 to 3.13 that are there,
# else python3. From 3.12 on one wheel serves all later ones, so a second one is not made.
# Exit codes: 0 made and checked, 2 not.
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
    type -P "$python" >/dev/null && set -- "$@" "$python"
  done
  (( $# > 0 )) || set -- python3
fi

tools/packages.sh build static || exit 2
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

# environment FOLDER PYTHON: with pip, and what makes and checks wheels.
environment() {
  "$2" -m venv "$1" >/dev/null || fail "$2 cannot make an environment: on Debian, python3-venv does"
  "$1/bin/pip" install --quiet --disable-pip-version-check -r tools/wheel-requirements.txt ||
    fail "the packages of tools/wheel-requirements.txt cannot be installed"
}

environment "$scratch/tools" "$1"
PATH=$scratch/tools/bin:$PATH
python -m build --sdist --outdir "$scratch/made" lib/python >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "no sdist"; }
sdist=$(echo "$scratch"/made/*.tar.gz)
say "made ${sdist##*/}"

stable=
for python in "$@"; do
  version=$("$python" -c 'import sys; print(sys.version_info[1])') || fail "$python is no Python"
  if (( version >= 12 )); then
    [[ -z $stable ]] || continue
    stable=1
  fi
  # Of the sdist, so that the sdist is known to have all that is needed.
  "$python" -m venv "$scratch/$version"
  "$scratch/$version/bin/pip" wheel "$sdist" --disable-pip-version-check --no-deps --wheel-dir "$scratch/$version/made" \
    >"$scratch/log" 2>&1 || { tail -40 "$scratch/log" >&2; fail "$python: no wheel"; }
  auditwheel repair --wheel-dir "$scratch/made" "$scratch/$version/made"/*.whl >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; fail "$python: the wheel needs what other systems have not"; }
done

check-wheel-contents "$scratch"/made/*.whl >&2 || fail "check-wheel-contents has something to say"
[[ -z $stable ]] || abi3audit --strict "$scratch"/made/*abi3*.whl >&2 || fail "abi3audit has something to say"
mv -- "$scratch"/made/* "$folder"
cd -- "$folder"
sha256sum -- *.tar.gz *.whl >SHA256SUMS
cat SHA256SUMS
