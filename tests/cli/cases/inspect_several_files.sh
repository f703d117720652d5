# Trouble with one file does not keep the others from being listed.
btftool inspect "$TESTDATA/good/empty.btf" nothing.btf "$TESTDATA/good/scalars.btf"
