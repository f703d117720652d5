#!/usr/bin/env bash
# One task of the array of slurm.sh, with its arguments. The number of shards is an argument, as SLURM_ARRAY_TASK_COUNT
# is another when only the missing ones are run again.
set -euo pipefail
actual=$1 golden=$2 shards=$3 shard=$SLURM_ARRAY_TASK_ID
shift 3
exec btftool diff --jobs "${SLURM_CPUS_PER_TASK:-1}" --resume --shard "$shard/$shards" --part "part/$shard.jsonl" \
  "$@" "$actual" "$golden"
