# What cannot be read is trouble; what is too short was read, and is not well-formed.
mkdir directory
for file in nothing.btf directory "$TESTDATA/bad/empty-file.btf" "$TESTDATA/bad/file-too-short.btf"; do
  btftool validate "$file"; echo "exit $?"
done
