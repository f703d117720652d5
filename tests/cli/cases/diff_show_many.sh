# Rows that are asked for do not push other tensors off the screen.
golden=$TESTDATA/good/mixed.btf
btftool -q convert --dtype fp16 "$golden" half.btf
btftool diff --no-hints half.btf "$golden"; echo "exit $?"
btftool diff --show 40 --no-hints half.btf "$golden" | grep -v '^    '
