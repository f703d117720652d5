# To compare nothing is trouble.
btftool diff "$TESTDATA/good/empty.btf" "$TESTDATA/good/empty.btf"
