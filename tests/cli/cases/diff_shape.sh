# Another shape is a difference.
btftool convert --tensor 0 --permute 0,1,3,2 "$TESTDATA/good/mixed.btf" same.btf
btftool convert --tensor 0 --permute 1,0,2,3 "$TESTDATA/good/mixed.btf" other.btf
btftool convert --tensor 0 "$TESTDATA/good/mixed.btf" golden.btf
btftool diff same.btf golden.btf --quiet; echo "exit $?"
btftool diff other.btf golden.btf; echo "exit $?"
btftool diff --rtol 1 --atol 1e9 other.btf golden.btf; echo "exit $?"
