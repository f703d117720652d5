# As many of the first mismatches as are asked for.
for show in 0 1 2 100; do
  btftool diff --tensor 0 --show "$show" "$TESTDATA/good/mixed_noisy.btf" "$TESTDATA/good/mixed.btf" | sed 2,6d
done
