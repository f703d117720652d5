#!/usr/bin/env bash
# Stands before btftool in PATH: the first time that shard 3 runs, it dies in the middle, with a torn FILE.partial left.
# DYING says how: "self" is killed, "parent" is killed together with the process that started it, "wait" waits to be.
# DYING_MARK is a file that is there from then on. REAL_BTFTOOL is the program itself.
set -euo pipefail
part=
third=no
previous=
for word in "$@"; do
  [[ $previous == --part ]] && part=$word
  [[ $previous == --shard && $word == 3/* ]] && third=yes
  previous=$word
done
if [[ ${DYING-no} != no && $third == yes ]] && (set -o noclobber; : >"$DYING_MARK") 2>/dev/null; then
  "$REAL_BTFTOOL" "$@"
  # The tail and half of the last item are lost.
  sed '$d' "$part" | head -c -40 >"$part.partial"
  rm -- "$part"
  case $DYING in
    parent) kill -KILL "$PPID" ;;
    wait) exec sleep 100 ;;
  esac
  kill -KILL $$
fi
exec "$REAL_BTFTOOL" "$@"
