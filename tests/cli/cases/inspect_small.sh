# No tensors, tensors without elements, rank 0.
btftool inspect "$TESTDATA/good/empty.btf"
btftool inspect --values "$TESTDATA/good/zero_dims.btf"
btftool inspect "$TESTDATA/good/scalars.btf"
