# The records beside a broken one are listed.
for name in data-past-end records-overlap layout-rank; do
  btftool inspect "$TESTDATA/bad/$name.btf"
  echo "exit $?"
done
btftool inspect --tensor 0 --values "$TESTDATA/bad/data-past-end.btf"; echo "exit $?"
