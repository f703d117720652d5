# The stored arrays as ordinary dense tensors.
btftool -q convert --plain "$TESTDATA/good/layouts_i8.btf" out.btf
btftool inspect out.btf
btftool convert --plain --dtype fp32 --layout chw4 --tensor 0 "$TESTDATA/good/mixed.btf" out.btf
btftool inspect --slice 0,0,0,0 out.btf
