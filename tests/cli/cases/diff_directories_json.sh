# One document for directories, with the files that are trouble.
needs test -c /dev/full
mkdir actual golden
cp "$TESTDATA/good/scalars.btf" actual/a.btf
cp "$TESTDATA/good/scalars.btf" golden/a.btf
cp "$TESTDATA/good/scalars.btf" golden/b.btf
echo text >actual/c.btf
echo text >golden/c.btf
btftool diff --json --tensor 0 actual golden; echo "exit $?"
btftool diff --json --json-schema 1 --tensor 0 actual golden; echo "exit $?"
btftool diff --json --tensor 0 --exclude c.btf --exclude b.btf actual golden; echo "exit $?"
# Trouble goes before a difference, as in the exit code; every report says so.
result() { head -c 90 | grep -o '"result":"[a-z]*"'; }
btftool diff --exclude b.btf --json --junit report.xml --html page.html actual golden | result; echo "exit ${PIPESTATUS[0]}"
grep -o '<title>[a-z]*' page.html
grep '<testsuites' report.xml
btftool diff --exclude b.btf actual golden | tail -n 1
btftool diff --exclude c.btf --json actual golden | result; echo "exit ${PIPESTATUS[0]}"
cp "$TESTDATA/good/mixed.btf" actual/b.btf
btftool diff --json --html page.html actual golden | result; echo "exit ${PIPESTATUS[0]}"
grep -o '<title>[a-z]*' page.html
# So does a report that cannot be written.
btftool diff --tensor 0 --include a.btf --json --junit /dev/full actual golden | result; echo "exit ${PIPESTATUS[0]}"
