#!/usr/bin/env bash
# Runs command line cases and compares what they print, and their exit code, with what is expected.
#
#   run_case.sh [--set-expected] BTFTOOL TESTDATA CASE.sh...
#
# A case is a bash script that says `btftool ...`. Beside it lie CASE.stdout, CASE.stderr (no file: nothing
# is printed) and CASE.exit (no file: 0). --set-expected writes these files from what happens now.
#
# A case starts in an empty directory and reads the test files through $TESTDATA, a relative path, so
# that messages which name a file are the same on every machine.
# What a machine may lack a case says with `needs COMMAND...`: if that command fails, the case is skipped, by name.
# Exit codes: 0 all as expected, 1 something differs, 2 wrong usage, 77 nothing differs and a case was skipped.
set -euo pipefail

set_expected=no
if [[ ${1-} == --set-expected ]]; then
  set_expected=yes
  shift
fi
if (( $# < 3 )) || [[ ! -x $1 || ! -d $2 ]]; then
  echo "usage: run_case.sh [--set-expected] BTFTOOL TESTDATA CASE.sh..." >&2
  exit 2
fi
tool=$(realpath -- "$1")
testdata=$(realpath -- "$2")
shift 2

umask 022
unset COLUMNS NO_COLOR CLICOLOR CLICOLOR_FORCE FORCE_COLOR
export LC_ALL=C TERM=dumb TESTDATA=../testdata PATH="${tool%/*}:$PATH"

# needs COMMAND...: for the cases.
needs() {
  "$@" </dev/null >/dev/null 2>&1 && return
  echo "needs: $*"
  exit 77
}
export -f needs

# try_bad_files COMMAND FILE...: for the cases. Says of each file what inspect and validate say, and what is wrong with their exit
# codes, or with those of some more commands, COMMAND among them; all within 256 MiB of address space.
try_bad_files() {
  local command_too=$1 file command code out
  shift
  ulimit -v 262144
  for file in "$@"; do
    btftool inspect "$file" 2>&1
    code=$?
    [ $code = 2 ] || echo "${file##*/}: exit $code"
    for command in "inspect --stats --json" validate "diff $file" "convert --dtype fp32" "$command_too"; do
      case $command in convert*) out=out.btf ;; *) out= ;; esac
      timeout 10 btftool -q $command "$file" $out >/dev/null 2>&1
      code=$?
      [ $code -le 2 ] || echo "$command ${file##*/}: exit $code"
    done
    btftool validate "$file" 2>&1 | sed 's/.*\[\(.*\)\]$/    [\1]/;t;d'
  done
}
export -f try_bad_files

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
ln -s -- "$testdata" "$scratch/testdata"

# compare EXPECTED ACTUAL: fails and prints the difference if there is one; a missing EXPECTED is an empty file.
compare() {
  local expected=$1
  [[ -e $expected ]] || expected=/dev/null
  cmp -s -- "$expected" "$2" ||
    diff -u --text --label "${1##*/} (expected)" --label "${1##*/} (actual)" -- "$expected" "$2"
}

# save EXPECTED ACTUAL: the other way round.
save() {
  if [[ -s $2 ]]; then cat -- "$2" >"$1"; else rm -f -- "$1"; fi
}

# run_case CASE.sh: leaves the files stdout and stderr in the scratch directory, and sets `code`.
run_case() {
  code=0
  rm -rf -- "$scratch/work"
  mkdir -- "$scratch/work"
  # A parent that ignores SIGPIPE must not change what a closed pipe does here.
  (cd -- "$scratch/work" && exec env --default-signal=PIPE bash "$1") \
    </dev/null >"$scratch/stdout" 2>"$scratch/stderr" || code=$?
}

failed=0
skipped=0
for script in "$@"; do
  [[ -f $script ]] || { echo "run_case.sh: no such case: $script" >&2; exit 2; }
  script=$(realpath -- "$script")
  base=${script%.sh}
  run_case "$script"
  if [[ $code == 77 ]]; then
    echo "skipped: ${script##*/} $(tail -n 1 -- "$scratch/stdout")"
    skipped=77
    continue
  fi
  if [[ $set_expected == yes ]]; then
    save "$base.stdout" "$scratch/stdout"
    save "$base.stderr" "$scratch/stderr"
    if (( code != 0 )); then echo "$code" >"$base.exit"; else rm -f -- "$base.exit"; fi
    continue
  fi
  compare "$base.stdout" "$scratch/stdout" || failed=1
  compare "$base.stderr" "$scratch/stderr" || failed=1
  wanted=0
  [[ ! -e $base.exit ]] || wanted=$(<"$base.exit")
  if [[ $code != "$wanted" ]]; then
    echo "${script##*/}: exit code $code, expected $wanted"
    failed=1
  fi
done
(( failed )) || exit "$skipped"
exit "$failed"
