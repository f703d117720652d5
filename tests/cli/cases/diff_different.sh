# How many, the worst, where, what would pass, and the first few.
btftool diff --tensor 0,2,3 "$TESTDATA/good/mixed_noisy.btf" "$TESTDATA/good/mixed.btf"
