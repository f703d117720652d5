# What a narrow type lost is counted, per tensor; nothing is said where nothing is lost.
for dtype in fp16 fp8 e5m2 e8m0 fp4 int8 uint8 bool; do
  echo "$dtype" >&2
  btftool convert --dtype "$dtype" --tensor 2-5,10,18 "$TESTDATA/good/dtypes.btf" out.btf || echo "exit $?"
done
echo "nothing is lost" >&2
btftool convert --dtype float64 --tensor 0-2,4,5,10-18 "$TESTDATA/good/dtypes.btf" out.btf || echo "exit $?"
btftool convert --dtype fp16 --tensor 3 "$TESTDATA/good/mixed.btf" out.btf || echo "exit $?"
