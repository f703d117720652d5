# A type that takes most of a tensor away is warned about, and -q does not hide that.
in=$TESTDATA/good/mixed.btf
btftool -q convert --tensor 1 --dtype int8 "$in" out.btf; echo "exit $?"
btftool -q convert --tensor 1 --dtype int8 --scale auto "$in" out.btf; echo "exit $?"
btftool -q convert --tensor 1 --dtype int8 --scale 1 "$in" out.btf; echo "exit $?"
btftool -q convert --tensor 1 --dtype fp8 "$in" out.btf; echo "exit $?"
btftool -q convert --tensor 1 --layout coo --dtype int8 "$in" out.btf; echo "exit $?"
btftool -q convert --tensor 4 --dtype fp8 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool -q convert --tensor 3 --dtype int8 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool -q convert --tensor 3 --dtype int8 --overflow wrap "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool -q convert --tensor 5 --dtype fp16 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool convert --json --tensor 1 --dtype int8 "$in" out.btf 2>/dev/null | grep -o '"warnings":.*'
