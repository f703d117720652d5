# Slices have NumPy's meaning, bounds beyond the dim included; dims that are not named are taken whole.
for slice in 0,1,2,3 0,:,1:3,::2 0,0,7:0:-3,:2 0,-1,-9:99,-100:2 0,0,0,5:2 -1,-3,::-4,-1; do
  btftool inspect --tensor 0 --slice "$slice" "$TESTDATA/good/mixed.btf" | sed "1d; 2s/.*/--slice $slice/; 3d"
done
btftool inspect --tensor 3 --slice 0,59: "$TESTDATA/good/mixed.btf"
