# A canonical file stays the same to the byte, and a readable one becomes canonical.
for file in "$TESTDATA"/good/*.btf; do
  case ${file##*/} in coo_code1.btf | coo_unsorted.btf) continue ;; esac
  btftool -q convert "$file" out.btf && cmp out.btf "$file" || echo "$file: exit $?"
done
btftool convert "$TESTDATA/good/coo_code1.btf" out.btf
cmp out.btf "$TESTDATA/good/coo_code2.btf"
btftool convert "$TESTDATA/good/coo_unsorted.btf" out.btf
cmp out.btf "$TESTDATA/good/coo_unsorted.canonical.btf"
for golden in "$TESTDATA"/odd/*.canonical.btf; do
  btftool -q convert "${golden%.canonical.btf}.btf" out.btf && cmp out.btf "$golden" || echo "$golden: exit $?"
done
