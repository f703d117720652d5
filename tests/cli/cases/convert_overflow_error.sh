# An overflow can be an error; what is merely inexact is none.
echo old >out.btf
btftool convert --overflow error --dtype fp8 --tensor 1 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool convert --overflow error --dtype int8 --layout coo --tensor 4 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool convert --overflow error --dtype fp16 --tensor 4 "$TESTDATA/good/dtypes.btf" new.btf; echo "exit $?"
cat out.btf
ls -A
btftool convert --overflow error --dtype fp16 --tensor 0 "$TESTDATA/good/mixed.btf" out.btf; echo "exit $?"
