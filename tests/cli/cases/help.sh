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
