# One document for directories, with the files that are trouble.
mkdir actual golden
cp "$TESTDATA/good/scalars.btf" actual/a.btf
cp "$TESTDATA/good/scalars.btf" golden/a.btf
cp "$TESTDATA/good/scalars.btf" golden/b.btf
echo text >actual/c.btf
echo text >golden/c.btf
btftool diff --json --tensor 0 actual golden; echo "exit $?"
btftool diff --json --tensor 0 --exclude c.btf --exclude b.btf actual golden; echo "exit $?"
