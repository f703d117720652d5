# The records beside one that cannot be used can be.
btftool convert --tensor 0,2 "$TESTDATA/bad/unknown-dtype.btf" out.btf; echo "exit $?"
btftool inspect --values out.btf
btftool convert --tensor 0 "$TESTDATA/bad/data-past-end.btf" out.btf; echo "exit $?"
