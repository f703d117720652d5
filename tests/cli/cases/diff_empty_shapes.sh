# No elements on either side: other dims are a difference, the same dims nothing to compare.
btftool -q convert --tensor 0 --slice 0,:0,:,: "$TESTDATA/good/mixed.btf" a.npy
btftool -q convert --permute 1,0,2 a.npy b.npy
btftool diff a.npy b.npy; echo "exit $?"
btftool diff a.npy a.npy; echo "exit $?"
