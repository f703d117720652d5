# Every type prints its own values: specials, subnormals, 64-bit integers to the last digit.
btftool inspect --values --slice 0 --tensor 3,4,9,12,13,14,15,16,18 "$TESTDATA/good/dtypes.btf"
