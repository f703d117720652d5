# Of a file that was cut the tensors before the cut are saved; the others are named, with the reason.
mixed=$TESTDATA/good/mixed.btf
head -c 2700 "$mixed" >cut.btf
btftool repair cut.btf out.btf; echo "exit $?"
btftool convert --tensor 0-2 "$mixed" expected.btf
cmp out.btf expected.btf && btftool validate --strict out.btf
echo '# a sound file comes out as it is'
btftool repair "$mixed" whole.btf; echo "exit $?"
cmp "$mixed" whole.btf
btftool repair "$TESTDATA/good/empty.btf" empty.btf; echo "exit $?"
cmp "$TESTDATA/good/empty.btf" empty.btf
echo '# quiet'
btftool -q repair cut.btf quiet.btf; echo "exit $?"
cmp quiet.btf expected.btf
echo '# to stdout, from a pipe'
cat cut.btf | btftool repair - - >piped.btf; echo "exit $?"
cmp piped.btf expected.btf
echo '# in place, compressed'
cp cut.btf same.btf
btftool repair same.btf same.btf; echo "exit $?"
cmp same.btf expected.btf
btftool repair cut.btf out.btf.zst; echo "exit $?"
zstd -dqc out.btf.zst | cmp - expected.btf
btftool repair --compress=1 cut.btf small; echo "exit $?"
zstd -dqc <small | cmp - expected.btf
