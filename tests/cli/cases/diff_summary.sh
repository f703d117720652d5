# A line a pair of files.
noisy=$TESTDATA/good/mixed_noisy.btf
golden=$TESTDATA/good/mixed.btf
btftool diff --summary "$noisy" "$golden"; echo "exit $?"
btftool diff --summary --rtol 2e-3 "$noisy" "$golden"; echo "exit $?"
btftool diff --summary --tensor 0 --rtol 2e-3 --cosine 0.9 "$noisy" "$golden"; echo "exit $?"
btftool diff --summary --close "$golden" "$golden"; echo "exit $?"
btftool diff --summary nothing.btf "$golden"; echo "exit $?"
mkdir actual golden
cp "$noisy" actual/a.btf
cp "$golden" golden/a.btf
cp "$golden" actual/b.btf
cp "$golden" golden/b.btf
cp "$golden" golden/c.btf
btftool diff --summary actual golden; echo "exit $?"
echo text >actual/c.btf
btftool diff --summary actual golden; echo "exit $?"
