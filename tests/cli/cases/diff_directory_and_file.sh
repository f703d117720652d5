# A directory and a file: the file of that name in it, as diff(1).
golden=$TESTDATA/good/mixed.btf
mkdir actual
cp "$golden" actual/mixed.btf
btftool diff --tensor 2 actual "$golden"; echo "exit $?"
btftool diff --tensor 2 "$golden" actual/; echo "exit $?"
btftool diff --json --tensor 2 actual "$golden" | cut -c 1-120
btftool diff actual "$TESTDATA/good/many.btf"; echo "exit $?"
