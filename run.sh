#!/usr/bin/env bash
# Shards of `btftool diff` on the engines that people have, each with a worker that is killed in the middle: what is merged
# is to the byte what one run says. An engine that is not there is skipped.
#
#   run.sh BTFTOOL [ENGINE...]
#   run.sh --packages            installs the Debian packages, and the Python packages into ENGINES_VENV
#
# ENGINES_VENV: a Python environment with the packages of requirements.txt. Without it, python3 is asked for them.
# Exit codes: 0 all that ran are well, 1 one is not, 2 wrong usage.
set -euo pipefail
here=$(dirname -- "$(realpath -- "$0")")
engines=(parallel slurm kubernetes process_pool loky dask mpi ray spark)
limit=180  # seconds an engine

packages() {
  apt-get install -y --no-install-recommends parallel slurm-wlm munge openmpi-bin default-jre-headless python3-venv
  python3 -m venv "$ENGINES_VENV"
  "$ENGINES_VENV/bin/pip" install --quiet -r "$here/requirements.txt"
}

if [[ ${1-} == --packages && -n ${ENGINES_VENV-} ]]; then
  packages
  exit
fi
if (($# < 1)) || [[ ! -x $1 || -d $1 ]]; then
  echo "usage: run.sh BTFTOOL [ENGINE...]; engines: ${engines[*]}" >&2
  exit 2
fi
btftool=$(realpath -- "$1")
shift
(($# == 0)) || engines=("$@")
if [[ -n ${ENGINES_VENV-} ]]; then
  PATH="$(realpath -- "$ENGINES_VENV")/bin:$PATH"
  export PATH
fi

failed=0
for engine in "${engines[@]}"; do
  [[ -f $here/$engine.sh ]] || { echo "run.sh: no engine $engine" >&2; exit 2; }
  began=$SECONDS
  code=0
  said=$(timeout --kill-after=10 "$limit" bash "$here/$engine.sh" "$btftool" 2>&1) || code=$?
  if ((code != 0)); then
    failed=1
    ((code != 124 && code != 137)) || said+=$'\n'"not done after $limit s"
    printf 'FAILED: %s\n%s\n' "$engine" "$said"
  elif [[ $said == skipped:* ]]; then
    echo "$said"
  else
    echo "passed: $engine, $((SECONDS - began)) s"
  fi
done
exit "$failed"
