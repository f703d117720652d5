# Help goes to stdout and exits with 0, wherever it is asked for.
for command in "" inspect convert diff validate; do
  btftool $command --help >help
  echo "exit $?"
  head -n 1 help
done
btftool convert "$TESTDATA/good/mixed.btf" -h >help
echo "exit $?"
ls -A
btftool --version | sed 's/[0-9.]*$/VERSION/'
btftool help --man diff | head -n 1 | sed 's/[0-9.]*"$/VERSION"/'
for words in dif "diff convert"; do
  btftool help --man $words
  echo "exit $?"
done
