# COO against dense, in both directions, and against COO in another order.
btftool diff "$TESTDATA/good/coo_code2.btf" "$TESTDATA/good/coo_code2.dense.btf"; echo "exit $?"
btftool diff -q "$TESTDATA/good/coo_code2.dense.btf" "$TESTDATA/good/coo_code1.btf"; echo "exit $?"
btftool diff -q "$TESTDATA/good/coo_unsorted.btf" "$TESTDATA/good/coo_unsorted.canonical.btf"; echo "exit $?"
btftool -q convert --tensor 4 --dtype int32 "$TESTDATA/good/coo_code2.btf" actual.btf
btftool -q convert --tensor 4 --dtype int8 "$TESTDATA/good/coo_code2.btf" golden.btf
btftool diff actual.btf golden.btf; echo "exit $?"
