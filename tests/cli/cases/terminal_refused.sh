# No format is written to a terminal.
needs script -qec true /dev/null
for format in btf npy raw; do
  script -qec "btftool convert --format $format --tensor 0 '$TESTDATA/good/mixed.btf' -" /dev/null | tr -d '\r' |
    grep -q 'is a terminal; binary data is not written to one' || echo "$format is written to a terminal"
done
