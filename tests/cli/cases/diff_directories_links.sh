# Links to directories are followed, and what they lead to is compared.
golden=$TESTDATA/good/mixed.btf
mkdir -p actual golden/sub elsewhere
cp "$TESTDATA/good/mixed_noisy.btf" elsewhere/a.btf
cp "$golden" golden/sub/a.btf
ln -s ../elsewhere actual/sub
btftool diff --show 0 --no-hints --tensor 0 actual golden; echo "exit $?"
# A directory against a file of the same name: both have what the other has not.
rm -r golden/sub
cp "$golden" golden/sub
btftool diff actual golden; echo "exit $?"
