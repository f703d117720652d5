# An index that occurs twice needs a decision.
file=$TESTDATA/odd/coo_duplicate_index.btf
btftool convert "$file" out.btf; echo "exit $?"
btftool convert --layout linear "$file" out.btf; echo "exit $?"
for rule in sum first last; do
  btftool convert --duplicates "$rule" "$file" out.btf; echo "$rule: exit $?"
  btftool inspect --tensor 1 --values out.btf
  btftool convert --duplicates "$rule" --layout linear "$file" dense.btf; echo "$rule: exit $?"
  btftool diff --tensor 1 out.btf dense.btf
done
