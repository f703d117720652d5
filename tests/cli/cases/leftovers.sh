# Outputs that a killed run has left are no tensors, and the next output into the directory removes them, but for
# those that a process holds, links, directories, and names that only look alike.
mkdir -p in out/sub
for name in a b; do btftool convert --tensor 0 "$TESTDATA/good/mixed.btf" in/$name.btf; done
cp in/a.btf out/a.btf
cp in/a.btf out/.btf-0123456789abcdef
cp in/a.btf out/sub/.btf-00000000000000ff
btftool inspect out; echo "exit $?"
btftool inspect --json out | grep -o '"other_files":[^]]*]'
btftool -v diff out in 2>&1; echo "exit $?"
mkdir only && cp in/a.btf only/.btf-0123456789abcdef
btftool inspect only; echo "exit $?"
# It can be looked at by its name.
btftool -q validate only/.btf-0123456789abcdef; echo "exit $?"
echo "- the next run"
cp in/a.btf out/.btf-ffffffffffffffff
exec 8<out/.btf-ffffffffffffffff && flock 8
cp in/a.btf out/.btf-0123456789ABCDEF
cp in/a.btf out/.btf-0123
ln -s ../in/a.btf out/.btf-1111111111111111
ln in/b.btf out/.btf-2222222222222222
mkdir out/.btf-3333333333333333
mkfifo out/.btf-4444444444444444
btftool convert in/ out/; echo "exit $?"
LC_ALL=C ls -A out
flock -u 8
btftool -q diff in/a.btf in/a.btf --html out/page.html; echo "exit $?"
LC_ALL=C ls -A out
