# The command is missing, unknown, or stands behind an unknown option.
for words in "" frob --frob -x "frob inspect $TESTDATA/good/empty.btf" "--frob inspect $TESTDATA/good/empty.btf"; do
  btftool $words
  echo "[$words] exit $?"
done
