# A spec that says another dtype than an array does is told so, with and without dims.
btftool -q convert --tensor 0 "$TESTDATA/good/mixed.btf" x.npy
btftool diff --actual-spec fp16 x.npy x.npy; echo "exit $?"
btftool diff --golden-spec 'x*=bf16' x.npy x.npy; echo "exit $?"
btftool diff --actual-spec fp32:1x3x8x8 x.npy x.npy; echo "exit $?"
btftool diff --actual-spec fp32 x.npy x.npy; echo "exit $?"
