# The report on stdout, what was lost on stderr.
btftool convert --json --dtype fp16 --layout hwc8 --where-possible "$TESTDATA/good/mixed.btf" out.btf
echo "exit $?"
btftool convert --json --dtype int8 --layout coo --tensor -7,4 "$TESTDATA/good/dtypes.btf" out.btf
echo "exit $?"
btftool convert --json --lossless --dtype fp16 "$TESTDATA/good/mixed.btf" none.btf
echo "exit $?"
