# Layouts do not matter, padding is ignored.
btftool diff --tensor 0-12 "$TESTDATA/good/layouts_f16.btf" "$TESTDATA/good/layouts_f16.linear.btf"; echo "exit $?"
btftool diff "$TESTDATA/odd/lane_padding_not_zero.btf" "$TESTDATA/odd/lane_padding_not_zero.canonical.btf" --quiet; echo "exit $?"
