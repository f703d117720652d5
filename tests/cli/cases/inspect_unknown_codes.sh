# Records of an unknown dtype or layout are listed; only to use their data is an error.
btftool inspect "$TESTDATA/bad/unknown-dtype.btf"; echo "exit $?"
btftool inspect --json "$TESTDATA/bad/unknown-dtype.btf"; echo "exit $?"
btftool inspect --values "$TESTDATA/bad/unknown-layout.btf"; echo "exit $?"
