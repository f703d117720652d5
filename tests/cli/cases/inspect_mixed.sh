# One line per tensor.
btftool inspect "$TESTDATA/good/mixed.btf"
