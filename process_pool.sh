#!/usr/bin/env bash
# ProcessPoolExecutor: a worker is killed, which breaks the pool, and a new one does the rest.
. "$(dirname -- "$0")/common.sh"
engine process_pool "$1"

DYING=parent exits "$expected" python3 "$examples/process_pool.py" "$actual" "$golden" "$shards"
[[ -e $DYING_MARK ]] || fail "nothing was killed"
grep -q '^lost:' "$scratch/output.txt" || fail "the pool did not break"
same_as_single
