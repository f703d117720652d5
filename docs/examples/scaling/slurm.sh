#!/usr/bin/env bash
# Compares two directories in shards as a Slurm array, and merges behind it. Run it again for the shards that are missing.
#
#   slurm.sh ACTUAL GOLDEN SHARDS [OPTION OF DIFF...]
set -euo pipefail
shards=$3
mkdir -p part

missing=
for ((shard = 1; shard <= shards; ++shard)); do
  [[ -e part/$shard.jsonl ]] || missing+=,$shard
done
after=()
if [[ -n $missing ]]; then
  # %200: no more of them at a time. Put --partition, --time and --mem here, or in SBATCH_PARTITION and the like.
  job=$(sbatch --parsable --job-name=diff --array="${missing#,}%200" --cpus-per-task=1 --requeue --open-mode=append \
    --output=part/%a.log "$(dirname -- "$(realpath -- "$0")")/slurm_shard.sh" "$@")
  # afterany, not afterok: merge itself says what is missing.
  after=(--dependency="afterany:${job%%;*}")
fi
merge=$(sbatch --parsable --job-name=merge "${after[@]}" --output=merge.txt \
  --wrap "btftool merge --expect $shards part/*.jsonl")
echo "array ${job-none}, merge ${merge%%;*}, which writes merge.txt"
