# One document, for the same and for different files.
btftool diff --json --tensor 0,2 --show 1 --rtol 1e-4 "$TESTDATA/good/mixed_noisy.btf" "$TESTDATA/good/mixed.btf"; echo "exit $?"
btftool diff --json --tensor 1 "$TESTDATA/good/mixed_noisy.btf" "$TESTDATA/good/mixed.btf"; echo "exit $?"
btftool diff --json --tensor 2 --no-equal-nan "$TESTDATA/good/mixed.btf" "$TESTDATA/good/mixed.btf"; echo "exit $?"
btftool diff --json "$TESTDATA/good/empty.btf" "$TESTDATA/good/rank255.btf" | sed 's/"shape":\[[^]]*\]/"shape":LONG/'; echo "exit ${PIPESTATUS[0]}"
