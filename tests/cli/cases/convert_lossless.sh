# What must not change is not written: OUT stays as it was, no other file appears.
echo old >out.btf
btftool convert --lossless --dtype fp16 "$TESTDATA/good/mixed.btf" out.btf; echo "exit $?"
btftool convert --lossless --dtype int8 --tensor 14 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool convert --lossless --dtype fp64 --tensor 3 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool convert --lossless --dtype int8 --layout coo --tensor 0 "$TESTDATA/good/mixed.btf" new.btf; echo "exit $?"
cat out.btf
ls -A
btftool convert --lossless --dtype float32 "$TESTDATA/good/small_codes.btf" out.btf; echo "exit $?"
cmp out.btf "$TESTDATA/good/small_codes.float32.btf"
