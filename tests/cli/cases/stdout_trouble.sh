# A result that cannot be written is trouble; a reader that has seen enough is none.
needs test -c /dev/full
file=$TESTDATA/good/mixed.btf
for words in --help "inspect $file" "inspect --json $file" "diff $file $file" "validate $file" "convert $file -" \
  "convert --json $file out.btf" "convert $file /dev/full"; do
  btftool $words >/dev/full
  echo "[$words] exit $?"
done
btftool diff -q "$file" "$file" >/dev/full
echo "nothing to print: exit $?"
files=()
for i in {1..40}; do files+=("$TESTDATA/good/many.btf"); done
btftool inspect --values "${files[@]}" | head -n 1
