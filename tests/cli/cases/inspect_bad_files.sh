# What is no BTF file at all.
mkdir directory
for file in nothing.btf directory "$TESTDATA/bad/empty-file.btf" "$TESTDATA/bad/file-too-short.btf"; do
  btftool inspect "$file"
  echo "exit $?"
done
