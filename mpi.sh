#!/usr/bin/env bash
# mpi4py: a rank is killed, which ends the whole job; the second run does what is missing.
. "$(dirname -- "$0")/common.sh"
type -P mpiexec >/dev/null || skip mpiexec
has mpi4py.MPI || skip mpi4py
engine mpi "$1"
export TMPDIR=$scratch

ranks=(mpiexec -n 3)
if mpiexec --version | grep -q 'Open MPI'; then
  ranks=(mpiexec --oversubscribe -n 3)
  ((EUID != 0)) || ranks=(mpiexec --allow-run-as-root --oversubscribe -n 3)
fi
run=("${ranks[@]}" python3 -m mpi4py.futures "$examples/mpi_shards.py" "$actual" "$golden" "$shards")
code=0
DYING=parent "${run[@]}" >"$scratch/output.txt" 2>&1 || code=$?
((code != 0)) || fail "the job did not end with its rank"
lacks_third
# mpiexec itself has 1 for a rank that exits with another code than 0.
"${run[@]}" >"$scratch/output.txt" 2>&1 || true
same_as_single
