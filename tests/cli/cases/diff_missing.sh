# A tensor on one side only is a difference, whichever side it is.
btftool convert --tensor 0-2 "$TESTDATA/good/mixed.btf" short.btf
btftool diff short.btf "$TESTDATA/good/mixed.btf"; echo "exit $?"
btftool diff "$TESTDATA/good/mixed.btf" short.btf; echo "exit $?"
btftool diff "$TESTDATA/good/empty.btf" short.btf; echo "exit $?"
