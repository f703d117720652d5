# No format is written to a terminal; without script(1) there is none to try.
command -v script >/dev/null || exit 0
for format in btf npy raw; do
  script -qec "btftool convert --format $format --tensor 0 '$TESTDATA/good/mixed.btf' -" /dev/null | tr -d '\r' |
    grep -q 'is a terminal; binary data is not written to one' || echo "$format is written to a terminal"
done
