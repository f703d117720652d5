# Wrong usage: exit 2, what was wrong, where there is help, nothing on stdout.
file=$TESTDATA/good/mixed.btf
for words in "" "$file --frob" "$file -Z" "$file --tensor" "$file --tensor 0 --tensor 1" "$file --values=x" "$file --dtype fp16"; do
  btftool inspect $words
  echo "[$words] exit $?"
done
