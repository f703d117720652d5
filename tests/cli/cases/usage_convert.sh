# Wrong usage: exit 2, what was wrong, where there is help, and no file is written.
file=$TESTDATA/good/mixed.btf
for words in "" "$file" "$file out.btf more" "$file out.btf --frob" "$file out.btf --dtype" "$file out.btf --overflow no" \
  "$file out.btf --round no" "$file out.btf --duplicates no" "$file out.btf --coo-code 1" "$file - --json"; do
  btftool convert $words
  echo "[$words] exit $?"
done
ls -A
