# --for tfrt: validate names what TFRT does not read, convert writes what it reads or nothing.
name() { btftool validate --for tfrt "$TESTDATA/$1"; echo "exit $?"; }
name good/dtypes.btf
name good/layouts_f32.btf
name good/coo_code1.btf
name good/coo_code2.btf
name good/zero_dims.btf
name good/rank255.btf
name good/scalars.btf
name odd/misaligned_offsets.btf
name odd/trailing_bytes.btf
name bad/unknown-dtype.btf
name bad/unknown-layout.btf
name bad/records-overlap.btf
name npy/shape_scalar.npy
btftool convert --compress "$TESTDATA/good/mixed.btf" mixed.btf.zst
btftool validate --for tfrt mixed.btf.zst; echo "exit $?"
btftool validate --for tfrt --json "$TESTDATA/good/coo_unsorted.btf"; echo "exit $?"
btftool validate --for tvm "$TESTDATA/good/mixed.btf"; echo "exit $?"

write() { btftool convert --for tfrt "$@"; echo "[$*] exit $?"; ls out.btf 2>/dev/null && btftool validate --for tfrt out.btf && rm out.btf; }
write "$TESTDATA/good/mixed.btf" out.btf
write "$TESTDATA/good/coo_code2.btf" out.btf
write --tensor 0-1 "$TESTDATA/good/coo_code2.btf" out.btf
btftool convert --for tfrt "$TESTDATA/odd/misaligned_offsets.btf" out.btf && btftool validate --for tfrt out.btf && rm out.btf
write "$TESTDATA/good/layouts_f32.btf" out.btf
write --layout linear "$TESTDATA/good/layouts_f32.btf" out.btf
write --plain "$TESTDATA/good/layouts_f32.btf" out.btf
write --tensor 0-9 "$TESTDATA/good/dtypes.btf" out.btf
write --tensor 10 "$TESTDATA/good/dtypes.btf" out.btf
write --dtype bf16 "$TESTDATA/good/mixed.btf" out.btf
write --layout hwc8 --tensor 0 "$TESTDATA/good/mixed.btf" out.btf
write --layout hwc8 --tensor 0 --plain "$TESTDATA/good/mixed.btf" out.btf
write --shuffle "$TESTDATA/good/mixed.btf" out.btf
write --coo-code spec "$TESTDATA/good/mixed.btf" out.btf
write --coo-code tfrt --layout coo --tensor 0-2 "$TESTDATA/good/mixed.btf" out.btf
write --compress "$TESTDATA/good/mixed.btf" out.btf
write --tensor 0 "$TESTDATA/good/mixed.btf" out.npy
write --dtype int8 --scale auto --tensor 0 "$TESTDATA/good/mixed.btf" out.btf
write --block-scale mxfp8 --tensor 0 "$TESTDATA/good/mixed.btf" out.btf
ls
