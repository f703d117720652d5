# Another dtype or layout is a difference when asked.
btftool diff --strict --tensor 0-2 "$TESTDATA/good/layouts_f16.btf" "$TESTDATA/good/layouts_f16.linear.btf"; echo "exit $?"
btftool diff --strict --tensor 0 "$TESTDATA/good/small_codes.btf" "$TESTDATA/good/small_codes.float32.btf"; echo "exit $?"
btftool diff --strict "$TESTDATA/good/mixed.btf" "$TESTDATA/good/mixed.btf" -q; echo "exit $?"
btftool convert -q --tensor 0 --dtype fp16 --layout hwc8 "$TESTDATA/good/mixed.btf" both.btf
btftool diff --strict --close --tensor 0 both.btf "$TESTDATA/good/mixed.btf"; echo "exit $?"
