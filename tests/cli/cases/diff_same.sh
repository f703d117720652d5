# The same, to the value.
btftool diff "$TESTDATA/good/mixed.btf" "$TESTDATA/good/mixed.btf"
