# Nothing is found in canonical files.
btftool validate "$TESTDATA/good/mixed.btf"
for file in "$TESTDATA"/good/*.btf; do
  btftool validate --strict -q "$file" || echo "$file: exit $?"
done
