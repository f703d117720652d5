# Scripts for shells are tried in these (tests/completion); here what is said besides.
for shell in bash zsh fish; do
  btftool completion $shell | head -n 3 | grep -o "in $shell: made"
done
btftool completion bsh
echo "exit $?"
btftool completion
echo "exit $?"
btftool completion bash zsh
echo "exit $?"

# Names as --tensor takes them, of what can be read: no message, and pipes are left alone.
mkdir -p dump/sub
cp "$TESTDATA/good/mixed.btf" dump/sub
btftool convert -q --tensor 0 "$TESTDATA/good/mixed.btf" --rename 'mixed#0=1017' named.btf
btftool convert -q --tensor 0 "$TESTDATA/good/mixed.btf" --rename 'mixed#0=a,b' comma.btf
mkfifo pipe
btftool completion --tensors dump named.btf comma.btf nothing.btf "$TESTDATA/bad/empty-file.btf" pipe - <named.btf
echo "exit $?"
btftool completion --tensors
echo "exit $?"
