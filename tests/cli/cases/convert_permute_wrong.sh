# What permutes no dims.
for order in 0,1,2 0,1,2,2 0,1,2,4 a 0,,1 999; do
  btftool convert --tensor 0 --permute "$order" "$TESTDATA/good/mixed.btf" out.btf
  echo "[$order] exit $?"
done
btftool convert --permute 0,3,1,2 "$TESTDATA/good/mixed.btf" out.btf
echo "exit $?"
ls -A
