# Non-finite numbers and integers beyond 2^53 are strings, other numbers carry all their digits.
# The last digits of mean and std may depend on the machine.
btftool inspect --json --stats --values --at 0,0,2 --tensor 3,13 "$TESTDATA/good/dtypes.btf" |
  sed -E 's/("(mean|std)":-?[0-9]*\.[0-9]{6})[0-9]*/\1/g'
btftool inspect --json --strides --at 0,1,2,3 --tensor 10,13 "$TESTDATA/good/layouts_f16.btf"
btftool inspect --json --slice 1:3,1 --tensor 1 "$TESTDATA/good/coo_unsorted.btf"
