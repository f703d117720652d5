# OUT may be IN, and a symbolic link stays one. A conversion that fails leaves it as it was.
cp "$TESTDATA/good/mixed.btf" file.btf
ln -s file.btf link.btf
btftool convert --dtype fp16 --tensor 0 file.btf golden.btf
btftool convert --lossless --dtype fp16 file.btf file.btf; echo "exit $?"
cmp file.btf "$TESTDATA/good/mixed.btf"
btftool convert --dtype fp16 --tensor 0 link.btf link.btf; echo "exit $?"
cmp file.btf golden.btf
readlink link.btf
ls -A
