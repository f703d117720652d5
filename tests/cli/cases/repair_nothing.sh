# Where nothing can be saved nothing is written, and that is trouble.
echo old >out.btf
head -c 30 "$TESTDATA/good/mixed.btf" >table.btf
printf '\0\0\0' >short.btf
: >empty.btf
{ printf '\0\0\0\0\0\0\0\0'; tail -c +9 "$TESTDATA/good/scalars.btf" | head -c 8; printf 'junk'; } >zero.btf
btftool convert --compress "$TESTDATA/good/mixed.btf" mixed.btf.zst
head -c 20 mixed.btf.zst >frame.btf.zst
for file in table.btf short.btf empty.btf zero.btf frame.btf.zst; do
  btftool repair $file out.btf; echo "exit $?"
done
btftool repair nothing.btf out.btf; echo "exit $?"
btftool repair . out.btf; echo "exit $?"
btftool repair "$TESTDATA/npy/float32.c.little.v1.npy" out.btf; echo "exit $?"
btftool repair --json table.btf out.btf; echo "exit $?"
cat out.btf
head -c 2700 "$TESTDATA/good/mixed.btf" >cut.btf
btftool repair cut.btf directory/out.btf; echo "exit $?"
btftool repair cut.btf /dev/full; echo "exit $?"
