# OUT is checked before anything is read, and a directory is one, as convert has it.
head -c 2700 "$TESTDATA/good/mixed.btf" >cut.btf
mkdir d
btftool repair cut.btf d; echo "exit $?"
btftool repair cut.btf d/cut.btf.zst; echo "exit $?"
zstd -dcq d/cut.btf.zst | cmp - d/cut.btf
btftool repair cut.btf .; echo "exit $?"
btftool repair - d <cut.btf; echo "exit $?"
btftool repair --json cut.btf /dev/stdout; echo "exit $?"
btftool repair cut.btf /dev/stdout 2>lines | cmp - d/cut.btf
cat lines
mkfifo in
timeout 20 btftool repair in nowhere/out.btf; echo "exit $?"
cat cut.btf | btftool -q repair - piped.btf; echo "exit $?"
cmp piped.btf d/cut.btf
ls -A . d
