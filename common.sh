# For the scripts of the engines: `engine NAME BTFTOOL` makes a scratch directory with a pair of directories and what one
# run says of them, and goes there. The rest are assertions.

set -euo pipefail
here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
examples=$(realpath -- "$here/../../docs/examples/scaling")
shards=8

skip() {
  echo "skipped: $1 is not there"
  exit 0
}

fail() {
  echo "$name: $*" >&2
  exit 1
}

# has MODULE: is it there, and is it one that loads?
has() {
  python3 -c "import $1" 2>/dev/null
}

# A script of an engine may have its own `stop`, for what it has started.
stop() { :; }
leave() {
  local code=$?
  stop
  cd /
  rm -rf -- "$scratch"
  exit "$code"
}

engine() {
  name=$1
  export REAL_BTFTOOL
  REAL_BTFTOOL=$(realpath -- "$2")
  has numpy || skip NumPy
  # Short: sockets below it have a limit of 107 bytes.
  scratch=$(mktemp -d /tmp/shards.XXXXXX)
  trap leave EXIT
  trap 'exit 1' INT TERM
  mkdir "$scratch/bin" "$scratch/run"
  cp -- "$here/dying_btftool.sh" "$scratch/bin/btftool"
  export PATH="$scratch/bin:$PATH" DYING_MARK="$scratch/died" DYING=no LC_ALL=C
  python3 "$here/make_pair.py" "$scratch"
  actual=$scratch/actual golden=$scratch/golden
  single
  cd -- "$scratch/run"
}

# single [OPTION...]: what one run says, which a merge has to say too.
single() {
  expected=0
  "$REAL_BTFTOOL" diff --json "$@" "$actual" "$golden" >"$scratch/single.json" 2>/dev/null || expected=$?
}

# same_as_single: the parts make the report of one run, to the byte, with its exit code.
same_as_single() {
  local code=0
  btftool merge --expect "$shards" --json part/*.jsonl >"$scratch/merged.json" 2>"$scratch/merge.txt" || code=$?
  cmp -- "$scratch/single.json" "$scratch/merged.json" || fail "the merged report differs: $(<"$scratch/merge.txt")"
  ((code == expected)) || fail "merge exits with $code, one run with $expected"
}

# lacks_third: shard 3 has no part, and merge says so.
lacks_third() {
  [[ -e $DYING_MARK ]] || fail "nothing was killed"
  [[ ! -e part/3.jsonl ]] || fail "shard 3 has a part, though it was killed"
  local code=0
  btftool merge --expect "$shards" --json part/*.jsonl >"$scratch/merged.json" 2>"$scratch/merge.txt" || code=$?
  ((code == 2)) || fail "merge without shard 3 exits with $code"
  grep -q '\b3/8\b\|shard 3\b' "$scratch/merge.txt" || fail "merge does not name shard 3: $(<"$scratch/merge.txt")"
}

# exits CODE COMMAND...: what it prints goes to a file that is shown if the code is another.
exits() {
  local wanted=$1 code=0
  shift
  "$@" >"$scratch/output.txt" 2>&1 || code=$?
  ((code == wanted)) || {
    tail -n 40 "$scratch/output.txt" >&2
    fail "$1 exits with $code, not with $wanted"
  }
}
