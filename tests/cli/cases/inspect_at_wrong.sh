# What is no index of the tensor.
for index in 0,3,7,7 0,-4,0,0 0,2,7 0,2,7,7,0 0,2,7,x 0,2,,7; do
  btftool inspect --tensor 0 --at "$index" "$TESTDATA/good/mixed.btf" >listing
  echo "[$index] exit $?"
done
cat listing
