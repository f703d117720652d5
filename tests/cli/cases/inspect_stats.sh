# Statistics over the finite values, counts of the others, and where the extremes are; absent elements of COO count as zeros.
# The last digits of mean and std may depend on the machine.
stats() { btftool inspect --stats "$@" | sed -E 's/((mean|std) +-?[0-9]*\.[0-9]{6})[0-9]*/\1/; s/((mean|std) +-?[0-9]{9})[0-9]+$/\1.../'; }
stats --tensor 4,9,13,18 "$TESTDATA/good/dtypes.btf"
stats --tensor 1 "$TESTDATA/good/mixed_noisy.btf"
stats --tensor 3 "$TESTDATA/good/mixed.btf"
stats --tensor 1 "$TESTDATA/good/zero_dims.btf"
