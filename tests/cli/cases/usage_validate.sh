# Wrong usage: exit 2, what was wrong, where there is help.
file=$TESTDATA/good/mixed.btf
for words in "" "$file --frob" "$file --tensor 0"; do
  btftool validate $words
  echo "[$words] exit $?"
done
