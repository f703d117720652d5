# Dense to COO and back is exact to the bit; absent is what has no bit set. COO has the published code, or that of TFRT.
for name in dtypes scalars small_codes; do
  btftool convert --layout coo "$TESTDATA/good/$name.btf" sparse.btf
  btftool convert --layout linear sparse.btf out.btf
  cmp out.btf "$TESTDATA/good/$name.btf" && echo "$name"
done
for name in coo_code2 coo_unsorted; do
  btftool convert --layout dense "$TESTDATA/good/$name.btf" out.btf
  cmp out.btf "$TESTDATA/good/$name.dense.btf" && echo "$name"
done
btftool inspect --tensor 4 sparse.btf
btftool convert --coo-code tfrt "$TESTDATA/good/coo_code2.btf" out.btf
cmp out.btf "$TESTDATA/good/coo_code1.btf" && echo tfrt
btftool convert --coo-code spec out.btf back.btf
cmp back.btf "$TESTDATA/good/coo_code2.btf" && echo spec
