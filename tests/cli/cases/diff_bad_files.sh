# What cannot be compared is trouble, not a difference; either side is named.
mkdir directory
file=$TESTDATA/good/mixed.btf
for other in nothing.btf directory "$TESTDATA/bad/empty-file.btf" "$TESTDATA/bad/file-too-short.btf"; do
  btftool diff "$other" "$file"; echo "exit $?"
  btftool diff "$file" "$other"; echo "exit $?"
done
