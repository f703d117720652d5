# One document for several files.
btftool inspect --json "$TESTDATA/good/mixed.btf" "$TESTDATA/good/empty.btf"
