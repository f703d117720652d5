# Beyond N values, three at both ends of every dim are shown.
btftool inspect --values 191 --tensor 0 "$TESTDATA/good/mixed.btf"
btftool inspect --values 192 --tensor 0 --slice 0,0 "$TESTDATA/good/mixed.btf"
btftool inspect --values 3 --tensor -1 "$TESTDATA/good/mixed.btf"
