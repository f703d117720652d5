# Trouble with --json: one document all the same, so that whoever reads it has something to read.
good=$TESTDATA/good/mixed.btf
show() { btftool "$@" 2>/dev/null; echo "exit $?"; }
show diff --json nothing.btf "$good"
show convert --json "$TESTDATA/bad/data-past-end.btf" out.btf
show convert --json "$good" none/out.btf
show convert --json --scale 2 "$good" out.btf
show layers --json nothing nowhere
show layers --json --from-json "$good"
show repair --json nothing.btf out.btf
show types --json float99
show diff --json --pair 0:1 "$good" "$TESTDATA/bad/data-past-end.btf"
show merge --json nothing.jsonl
show diff --json --rtol many "$good" "$good"
show difff --json "$good" "$good"
# Whole documents stay as they are.
show inspect --json nothing.btf
show validate --json nothing.btf
# Nothing without --json, and not two documents.
show diff nothing.btf "$good"
btftool diff --json "$good" "$TESTDATA/bad/data-past-end.btf" 2>/dev/null | wc -l
