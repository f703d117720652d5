# Wrong usage: exit 2, what was wrong, where there is help.
file=$TESTDATA/good/mixed.btf
for words in "" "$file" "$file $file more" "$file $file --frob" "$file $file --rtol" "$file $file --show x" "- -"; do
  btftool diff $words
  echo "[$words] exit $?"
done
