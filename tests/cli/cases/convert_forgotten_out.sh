# OUT forgotten: of several inputs none is overwritten, unless that is said. And what is replaced is said with -v.
for f in a b c; do btftool convert --tensor 2 "$TESTDATA/good/mixed.btf" $f.btf; done
cp c.btf kept.btf
btftool convert --dtype fp16 a.btf b.btf c.btf; echo "exit $?"; cmp c.btf kept.btf
btftool convert a.btf b.btf -o c.btf; echo "exit $?"; btftool inspect c.btf | head -n 1
btftool convert -f a.btf b.btf c.btf; echo "exit $?"
btftool convert --force a.btf b.btf c.btf; echo "exit $?"
btftool convert a.btf b.btf a.btf; echo "exit $?"; btftool inspect a.btf | head -n 1
: >empty.btf; btftool convert a.btf b.btf empty.btf; echo "exit $?"
head -c 50 kept.btf >cut.btf; btftool convert a.btf b.btf cut.btf; echo "exit $?"
btftool convert -v b.btf c.btf; echo "exit $?"
btftool convert a.btf b.btf dir/ && btftool convert -v a.btf b.btf dir/
echo "== a folder that is to be"
btftool convert b.btf new/ && ls new
btftool convert --tensor 9 b.btf never/; echo "exit $?"; ls -d never 2>/dev/null
btftool convert b.btf deep/er/ && ls deep/er
echo "== what is not written"
btftool convert b.btf out.pt; btftool convert b.btf out.h5; btftool convert --format torch b.btf x; btftool convert b.btf out.png
echo "== scales, COO"
btftool convert --tensor 1 "$TESTDATA/good/mixed.btf" w.npy
btftool convert --dtype int8 --scale auto w.npy q.npy; echo "exit $?"
btftool convert --tensor 3 "$TESTDATA/good/mixed.btf" dense.npz
btftool convert --tensor 3 --layout linear "$TESTDATA/good/mixed.btf" dense.npz
