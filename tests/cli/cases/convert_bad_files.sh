# Nothing is written for an input that is none.
mkdir directory
for file in nothing.btf directory "$TESTDATA/bad/empty-file.btf" "$TESTDATA/bad/file-too-short.btf" \
  "$TESTDATA/bad/data-past-end.btf" "$TESTDATA/bad/unknown-dtype.btf" "$TESTDATA/bad/coo-index-out-of-range.btf"; do
  btftool convert "$file" out.btf
  echo "exit $?"
done
ls -A
