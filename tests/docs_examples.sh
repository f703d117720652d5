#!/usr/bin/env bash
# Runs the examples of README.md and of documents in docs/ and compares what they print with what the documents show.
#
#   docs_examples.sh [--update] BTFTOOL_DIR SOURCE_DIR
#
# An example is a fenced block marked ```console. Its lines that begin with "$ " are commands; the lines below a
# command are what it prints, stdout and stderr together. A line "..." there stands for any number of lines.
# A block marked ```console no-run is left out. The commands of one document run in order, in one scratch directory
# with a copy of the test data as testdata/ and of docs/examples; `$?` is the exit code of the command before.
#
# --update writes what is printed now into the documents, but for outputs with a "..." line.
# Exit codes: 0 all as shown, 1 something differs, 2 wrong usage.
set -euo pipefail

update=no
if [[ ${1-} == --update ]]; then
  update=yes
  shift
fi
if (( $# != 2 )) || [[ ! -x $1/btftool || ! -d $2/testdata ]]; then
  echo "usage: docs_examples.sh [--update] BTFTOOL_DIR SOURCE_DIR" >&2
  exit 2
fi
tool_dir=$(realpath -- "$1")
source_dir=$(realpath -- "$2")

umask 022
unset COLUMNS NO_COLOR CLICOLOR CLICOLOR_FORCE FORCE_COLOR
export LC_ALL=C TERM=dumb PATH="$tool_dir:$PATH"

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
examples=$scratch/examples
work=$scratch/work

# extract DOCUMENT: writes N.command, N.expected and N.line of its examples, N = 1, 2, ...
extract() {
  rm -rf -- "$examples"
  mkdir -- "$examples"
  awk -v out="$examples/" '
    /^```/ { inside = !fenced && $0 == "```console"; fenced = !fenced; started = 0; next }
    !inside { next }
    /^\$ / {
      if (n) close(out n ".expected")
      ++n; started = 1
      print substr($0, 3) >(out n ".command"); close(out n ".command")
      print FNR >(out n ".line"); close(out n ".line")
      printf "" >(out n ".expected")
      next
    }
    started { print >(out n ".expected") }
  ' "$1"
}

# run N PREVIOUS: leaves what example N prints in N.actual, and sets `code`.
run() {
  code=0
  # A parent that ignores SIGPIPE must not change what a closed pipe does here.
  (cd -- "$work" &&
    exec env --default-signal=PIPE bash -c '(exit "$1"); eval "$2"' bash "$2" "$(<"$examples/$1.command")") \
    </dev/null >"$examples/$1.actual" 2>&1 || code=$?
}

# matches EXPECTED ACTUAL: line by line, "..." in EXPECTED for any lines.
matches() {
  awk '
    FILENAME == ARGV[1] { expected[++m] = $0; next }
    { actual[++n] = $0 }
    END {
      for (i = j = 1; i <= n;) {
        if (j <= m && expected[j] == "...") { star = j++; again = i }
        else if (j <= m && expected[j] == actual[i]) { ++i; ++j }
        else if (star) { i = ++again; j = star + 1 }
        else exit 1
      }
      while (j <= m && expected[j] == "...") ++j
      exit j <= m
    }
  ' "$1" "$2"
}

# rewrite DOCUMENT: puts N.actual in the place of N.expected where that has no "..." line.
rewrite() {
  awk -v out="$examples/" '
    function keeps(file,   line, found) {
      while ((getline line <file) > 0) if (line == "...") found = 1
      close(file)
      return found
    }
    /^```/ { inside = !fenced && $0 == "```console"; fenced = !fenced; started = 0; print; next }
    inside && /^\$ / {
      print
      ++n; started = 1
      kept = keeps(out n ".expected")
      file = out n ".actual"
      while (!kept && (getline line <file) > 0) print line
      close(file)
      next
    }
    !(inside && started) || kept
  ' "$1" >"$scratch/rewritten"
  cat -- "$scratch/rewritten" >"$1"
}

# check DOCUMENT
check() {
  local document=$source_dir/$1 n=0 differ=0
  code=0
  extract "$document"
  rm -rf -- "$work"
  mkdir -- "$work"
  cp -r -- "$source_dir/testdata" "$work/testdata"
  mkdir -- "$work/docs"
  cp -r -- "$source_dir/docs/examples" "$work/docs/examples"
  while [[ -e $examples/$((++n)).command ]]; do
    run "$n" "$code"
    if [[ $update == no ]] && ! matches "$examples/$n.expected" "$examples/$n.actual"; then
      echo "$1:$(<"$examples/$n.line"): $(<"$examples/$n.command")"
      diff -u --text --label shown --label printed -- "$examples/$n.expected" "$examples/$n.actual" || true
      (( ++differ ))
    fi
  done
  echo "$1: $((n - 1)) examples, $differ differ"
  if (( n == 1 )); then
    echo "$1: no examples found, so something is wrong with this test or with the document"
    differ=1
  fi
  [[ $update == no ]] || rewrite "$document"
  (( differ == 0 ))
}

failed=0
for document in README.md docs/{cli,inspect,convert,diff,validate,repair,json,dtypes,formats,layers,fit,tensorrt,types}.md; do
  check "$document" || failed=1
done

# The tutorial takes Python with the packages of others, where tests/interop/venv.sh has put them, and a wheel of the package index.
python_bin=$tool_dir/../interop-venv/bin
wheel=$(grep rapidocr "$source_dir/tests/layers/real-models.txt")
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_FIND_LINKS=$tool_dir/../real-models
if [[ ! -f $python_bin/../installed.txt ]]; then
  echo "docs/tutorial.md: skipped, there are no packages of tests/interop/requirements.txt"
elif ! compgen -G "$PIP_FIND_LINKS/rapidocr_*.whl" >/dev/null &&
  ! PIP_FIND_LINKS='' "$python_bin/python3" -m pip download -q --no-deps --retries 0 -d "$PIP_FIND_LINKS" "$wheel" >"$scratch/log" 2>&1; then
  echo "docs/tutorial.md: skipped, $wheel cannot be downloaded"
else
  (export PIP_NO_INDEX=1 PATH="$tool_dir:$python_bin:$PATH"; check docs/tutorial.md) || failed=1
fi
exit "$failed"
