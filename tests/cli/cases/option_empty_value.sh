# A value that is empty is a value, and not the next word: --at= is the index of rank 0.
btftool inspect --at= --tensor 0 "$TESTDATA/good/scalars.btf"
btftool inspect --tensor= "$TESTDATA/good/scalars.btf"; echo $?
btftool inspect --values= "$TESTDATA/good/scalars.btf"; echo $?
btftool convert --dtype= "$TESTDATA/good/scalars.btf" out.btf; echo $?
ls
