# Files with the same path below both directories are compared; a file on one side only is a difference.
golden=$TESTDATA/good/mixed.btf
mkdir -p actual/sub golden/sub
for name in a sub/b sub/c; do cp "$golden" "actual/$name.btf"; cp "$golden" "golden/$name.btf"; done
btftool diff actual golden; echo "exit $?"
btftool diff actual/ golden/ --all; echo "exit $?"
cp "$TESTDATA/good/mixed_noisy.btf" actual/sub/b.btf
btftool diff --no-hints actual golden; echo "exit $?"
btftool diff --rtol 2e-3 --no-hints actual golden; echo "exit $?"
cp "$golden" actual/only.btf
cp "$golden" golden/sub/other.btf
btftool diff --tensor 2 actual golden; echo "exit $?"
btftool diff -q actual golden; echo "exit $?"
# A tensor that one of the files has is enough for its tolerance; none is trouble.
cp "$TESTDATA/good/many.btf" actual/many.btf
cp "$TESTDATA/good/many.btf" golden/many.btf
btftool diff --summary --rtol 200=1 actual golden; echo "exit $?"
btftool diff --rtol 1000=1 --junit report.xml --html page.html actual golden; echo "exit $?"
grep -o '<title>[a-z]*' page.html
grep -A1 -e '<testcase' report.xml
btftool diff --summary --rtol 1000=1 actual golden; echo "exit $?"
btftool diff --json --rtol 1000=1 actual golden; echo "exit $?"
