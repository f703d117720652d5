#!/usr/bin/env bash
# GNU parallel: a shard that is killed is tried again by --retries, and by --resume-failed of a second run.
. "$(dirname -- "$0")/common.sh"
type -P parallel >/dev/null || skip 'GNU parallel'
engine parallel "$1"
export HOME=$scratch JOBS=2

DYING=self RETRIES=1 exits 2 bash "$examples/parallel.sh" "$actual" "$golden" "$shards"
lacks_third
exits "$expected" bash "$examples/parallel.sh" "$actual" "$golden" "$shards"
# The seven that were well are not run again.
(($(grep -c 'btftool diff' part/log) == shards + 1)) || fail "not only shard 3 was run again: $(<part/log)"
same_as_single

# Options go to diff; without the file that cannot be read the exit code is that of a difference.
rm -r part "$DYING_MARK"
single --exclude broken.npy --rtol 1e-3
DYING=self RETRIES=3 exits "$expected" bash "$examples/parallel.sh" "$actual" "$golden" "$shards" --exclude broken.npy --rtol 1e-3
((expected == 1)) || fail "one run exits with $expected, not with 1"
[[ -e $DYING_MARK ]] || fail "nothing was killed"
same_as_single
