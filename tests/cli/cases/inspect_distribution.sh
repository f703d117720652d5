# Percentiles and a histogram: of one number, of none, of 4 bits, of COO; wrong lists.
inspect() { btftool inspect "$@" | sed -n '/percentile\|histogram/,$p'; }
inspect --tensor 3 --percentiles 0,50,100 --histogram 3 "$TESTDATA/good/mixed.btf"
inspect --tensor 16 --percentiles --histogram 4 "$TESTDATA/good/dtypes.btf"
inspect --tensor 1 --percentiles 50 --histogram 4 "$TESTDATA/good/zero_dims.btf"
printf '7 7 7' > one.txt
inspect --percentiles 1,99 --histogram 2 --input-spec text:int64:3 one.txt
btftool inspect --percentiles=1,x "$TESTDATA/good/mixed.btf"
btftool inspect --percentiles=101 "$TESTDATA/good/mixed.btf"
btftool inspect --histogram 0 "$TESTDATA/good/mixed.btf"
btftool inspect --histogram 5000 "$TESTDATA/good/mixed.btf"
