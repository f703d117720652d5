# Types and layouts of the extension are marked.
btftool inspect --tensor 0-12 "$TESTDATA/good/layouts_i8.btf"
btftool inspect --tensor 9-18 "$TESTDATA/good/dtypes.btf"
