# A directory and a file: the file of that name in it, as diff(1).
golden=$TESTDATA/good/mixed.btf
mkdir actual
cp "$golden" actual/mixed.btf
btftool diff --tensor 2 actual "$golden"; echo "exit $?"
btftool diff --tensor 2 "$golden" actual/; echo "exit $?"
btftool diff --json --tensor 2 actual "$golden" | cut -c 1-120
btftool diff actual "$TESTDATA/good/many.btf"; echo "exit $?"

# A file of several tensors that has no namesake in the directory meets the single ones there.
rm -rf single && btftool -q convert --format npy --tensor 0,1 "$TESTDATA/good/mixed.btf" single/
btftool convert --tensor 0,1 "$TESTDATA/good/mixed.btf" mixed.npz
btftool diff mixed.npz single; echo "exit $?"
btftool diff single mixed.npz; echo "exit $?"
rm single/mixed#1.npy
btftool diff mixed.npz single; echo "exit $?"
# One of a single tensor does not.
btftool diff single/mixed#0.npy mixed.npz; echo "exit $?"
mkdir empty && btftool diff single/mixed#0.npy empty; echo "exit $?"
