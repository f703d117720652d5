# The first tensor that cannot take the layout is an error, and nothing is written.
btftool convert --layout hwc8 "$TESTDATA/good/mixed.btf" out.btf; echo "exit $?"
btftool convert --layout hwc8 --tensor 15 "$TESTDATA/good/dtypes.btf" out.btf; echo "exit $?"
btftool convert --layout hwc8 --dtype int4 --tensor 0 "$TESTDATA/good/mixed.btf" out.btf; echo "exit $?"
btftool convert --layout dla_hwc4 "$TESTDATA/good/layout_chw2_c.btf" out.btf; echo "exit $?"
ls -A
