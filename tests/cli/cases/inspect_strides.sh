# The stored shape and its strides, as DLPack, NvMedia and TensorRT count them; 4-bit elements have none in bytes.
btftool inspect --strides --tensor 0-2,5,9,10 "$TESTDATA/good/layouts_f16.btf"
btftool inspect --strides --tensor 16 "$TESTDATA/good/dtypes.btf"
btftool inspect --strides --tensor 3 "$TESTDATA/good/mixed.btf"
