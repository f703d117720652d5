# --values with a number and without one, before and behind the file; the file is never taken for the number.
file=$TESTDATA/good/scalars.btf
btftool inspect --values "$file" >bare
cat bare
for words in "--values 5 $file" "--values=5 $file" "$file --values" "$file --values 5" "--values -- $file"; do
  btftool inspect $words | cmp - bare && echo "the same: inspect ${words/$file/FILE}"
done
cp "$file" 5
btftool inspect --values 5; echo "exit $?"
btftool inspect --values ./5 --tensor 0; echo "exit $?"
