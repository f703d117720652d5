#!/usr/bin/env bash
# The whole sweep of faults, by hand: every allocation and every call that can fail, of every command and
# format (docs/testing.md). Builds what it needs. Arguments go to the sweep:
#
#   tests/faults/run.sh                       # hours: some hundred thousand runs
#   tests/faults/run.sh --kind read           # one kind of call: allocate, open, read, write, stat, ...
#   tests/faults/run.sh --scenario compress   # one command
#   tests/faults/run.sh --scenario compress --fault write:3:3:1:28    # one run, as a failure is reported
#
# BUILD_DIR (default: build) is a finished build with tests. Run as root, limits on processes are tried as
# another user; not as root, as oneself.
set -euo pipefail
cd -- "$(dirname -- "$(realpath -- "$0")")/../.."

build=${BUILD_DIR:-build}
cmake --build "$build" --target btftool btf_fault_shim btf_fault_sweep
exec "$build/tests/faults/btf_fault_sweep" "$build/bin/btftool" "$build/tests/faults/libbtf_fault_shim.so" testdata \
  --all "$@"
