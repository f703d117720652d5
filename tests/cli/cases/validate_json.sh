# One document for several files.
btftool validate --json "$TESTDATA/good/mixed.btf" "$TESTDATA/odd/reserved_not_zero.btf"; echo "exit $?"
btftool validate --json --strict "$TESTDATA/odd/trailing_bytes.btf"; echo "exit $?"
btftool validate --json "$TESTDATA/bad/records-overlap.btf" nothing.btf "$TESTDATA/bad/empty-file.btf"; echo "exit $?"
