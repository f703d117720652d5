# Records are chosen, repeated and put in another order.
btftool convert --tensor 5,0,0,-1 "$TESTDATA/good/many.btf" out.btf; echo "exit $?"
btftool inspect --values out.btf
btftool convert --tensor 300 "$TESTDATA/good/many.btf" none.btf; echo "exit $?"
btftool convert --tensor 2- "$TESTDATA/good/many.btf" none.btf; echo "exit $?"
ls -A
