# What is no slice of the tensor.
for slice in 9 0,-4 0,0,0,0,0 a 1:2:0 1:2:3:4 0,,1; do
  btftool inspect --tensor 0 --slice "$slice" "$TESTDATA/good/mixed.btf" >listing
  echo "[$slice] exit $?"
done
cat listing
