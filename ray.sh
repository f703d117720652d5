#!/usr/bin/env bash
# Ray: a worker is killed, and its task is tried again.
. "$(dirname -- "$0")/common.sh"
has ray || skip Ray
engine ray "$1"
export RAY_ADDRESS=local RAY_TMPDIR=$scratch RAY_USAGE_STATS_ENABLED=0

DYING=parent exits "$expected" python3 "$examples/ray_shards.py" "$actual" "$golden" "$shards"
[[ -e $DYING_MARK ]] || fail "nothing was killed"
same_as_single
