# The same records of both files.
btftool convert --tensor 0-5 "$TESTDATA/good/many.btf" short.btf
btftool diff --tensor 0,3-5 short.btf "$TESTDATA/good/many.btf"; echo "exit $?"
btftool diff --tensor -1 short.btf "$TESTDATA/good/many.btf"; echo "exit $?"
btftool diff --tensor 299 short.btf "$TESTDATA/good/many.btf"; echo "exit $?"
btftool diff --tensor x short.btf "$TESTDATA/good/many.btf"; echo "exit $?"
