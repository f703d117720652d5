# Dtypes do not matter, values do: every small code is exact in float32, some 64-bit integers are not in float64.
btftool diff "$TESTDATA/good/small_codes.btf" "$TESTDATA/good/small_codes.float32.btf"; echo "exit $?"
btftool diff --show 0 "$TESTDATA/good/dtypes.btf" "$TESTDATA/good/dtypes.float64.btf" >report; echo "exit $?"
grep different report
