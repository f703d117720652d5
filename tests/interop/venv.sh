#!/usr/bin/env bash
# Puts the libraries of others that the programs here compare with, in the versions of requirements.txt, into
# BUILD_DIR/interop-venv. Where that is not possible it says so, and the tests that need them are skipped.
#
#   venv.sh BUILD_DIR
set -uo pipefail
venv=$1/interop-venv
wanted=$(dirname -- "$0")/requirements.txt
cmp -s -- "$wanted" "$venv/installed.txt" && exit 0
if python3 -m venv "$venv" >/dev/null 2>&1 &&
  "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 0 --timeout 20 -r "$wanted" >/dev/null 2>&1; then
  cp -- "$wanted" "$venv/installed.txt"
else
  echo "venv.sh: the packages of tests/interop/requirements.txt cannot be installed: the tests that need them are skipped"
fi
