# A broken record is trouble; the others can be compared.
btftool diff "$TESTDATA/bad/data-past-end.btf" "$TESTDATA/bad/unknown-dtype.btf"; echo "exit $?"
btftool diff "$TESTDATA/bad/unknown-dtype.btf" "$TESTDATA/bad/unknown-dtype.btf"; echo "exit $?"
btftool diff --tensor 0 "$TESTDATA/bad/data-past-end.btf" "$TESTDATA/bad/unknown-dtype.btf"; echo "exit $?"
