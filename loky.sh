#!/usr/bin/env bash
# loky: the example of ProcessPoolExecutor, with the import that its comment names.
. "$(dirname -- "$0")/common.sh"
has loky || skip loky
engine loky "$1"

sed 's/^from .* # or: \(from loky .*\)/\1/' "$examples/process_pool.py" >shards.py
grep -q '^from loky' shards.py || fail "the example has no such line"
DYING=parent exits "$expected" python3 shards.py "$actual" "$golden" "$shards"
[[ -e $DYING_MARK ]] || fail "nothing was killed"
grep -q '^lost:' "$scratch/output.txt" || fail "the pool did not break"
same_as_single
