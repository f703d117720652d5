# Other pairs than those of the same index.
golden=$TESTDATA/good/mixed.btf
btftool convert --tensor 2,0,1 "$golden" actual.btf
btftool diff --pair 0:2,1:0,2:1 actual.btf "$golden"; echo "exit $?"
btftool diff --pair -1:1 actual.btf "$golden"; echo "exit $?"
btftool diff --pair 1:-4,1:0 actual.btf "$golden"; echo "exit $?"
btftool diff --pair 0:0 actual.btf "$golden"; echo "exit $?"
btftool diff --pair 1:0 --rtol 1=1e-3 actual.btf "$golden"; echo "exit $?"
btftool diff --pair 1:0 --rtol 0=1e-3 actual.btf "$golden"; echo "exit $?"
