# Tensors that cannot take the layout stay as they are, and are named.
btftool convert --layout hwc8 --dtype fp16 --where-possible --tensor 0,2,3 "$TESTDATA/good/mixed.btf" out.btf
echo "exit $?"
btftool inspect out.btf
btftool convert --layout dla_hwc4 --where-possible "$TESTDATA/good/layout_chw2_c.btf" out.btf
echo "exit $?"
btftool inspect out.btf
