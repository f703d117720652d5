# The 8-bit floats without -0 and their kin: what is clamped, what is NaN, and whose name is whose.
btftool convert --tensor 4 --dtype float8_e4m3fnuz "$TESTDATA/good/dtypes.btf" fnuz.btf; echo "exit $?"
btftool inspect --values fnuz.btf
for name in e5m2fnuz E3M4 float8_e4m3 F8_E4M3B11FNUZ F8_E4M3 e4m3; do
  for overflow in saturate ieee; do
    btftool convert --tensor 4 --dtype $name --overflow $overflow "$TESTDATA/good/dtypes.btf" out.btf
    btftool inspect --tensor 0 --slice 0,2,: out.btf | tail -n +3
  done
done
# -0 becomes 0, which is the same number.
btftool convert --lossless --tensor 3 --dtype f8_e5m2fnuz "$TESTDATA/good/small_codes.btf" out.btf; echo "exit $?"
btftool inspect --at 8 out.btf
btftool convert --overflow wrap --tensor 4 --dtype e3m4 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool convert --overflow error --tensor 4 --dtype e3m4 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
