#!/usr/bin/env bash
# Dask: a worker is killed, and its task goes to another one.
. "$(dirname -- "$0")/common.sh"
has dask.distributed || skip Dask
engine dask "$1"
export DASK_TEMPORARY_DIRECTORY=$scratch/dask

DYING=parent exits "$expected" python3 "$examples/dask_shards.py" "$actual" "$golden" "$shards"
[[ -e $DYING_MARK ]] || fail "nothing was killed"
same_as_single
