#!/usr/bin/env bash
# Compares two directories in shards with GNU parallel. Run it again for the shards that failed.
#
#   [COMMAND=layers] parallel.sh ACTUAL GOLDEN SHARDS [OPTION OF THE COMMAND...]
#
# COMMAND is diff unless told. `validate` takes two directories, `convert` one and where to write.
set -euo pipefail
actual=$1 golden=$2 shards=$3
shift 3

mkdir -p part
# The joblog is what --resume-failed looks into: shards that ended well are not run again.
# Add --sshlogin HOST,... and --workdir "$PWD" where other machines see the same paths.
seq "$shards" |
  parallel --joblog part/log --resume-failed --jobs "${JOBS:-100%}" --retries "${RETRIES:-3}" --quote \
    btftool "${COMMAND:-diff}" --jobs 1 --resume --shard "{}/$shards" --part "part/{}.jsonl" "$@" "$actual" "$golden" ||
  echo "$? shards failed" >&2
exec btftool merge --expect "$shards" part/*.jsonl
