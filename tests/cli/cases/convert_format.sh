# The format of the output by its name on the command line: of -, and of any other name.
in=$TESTDATA/good/mixed.btf
btftool convert --tensor 0 "$in" a.npy
btftool convert --format npy --tensor 0 "$in" - | cmp - a.npy
btftool convert --format NPY --tensor 0 "$in" b && cmp a.npy b
btftool convert --format npy --compress --tensor 0 "$in" - | btftool inspect -
btftool convert --format raw --tensor 2 "$in" - | od -An -t u8
btftool convert --format raw --output-spec int64:4 --tensor 2 "$in" - | od -An -t u8
btftool convert --format btf --tensor 0 "$in" c.npy && btftool inspect c.npy
# What cannot be.
for options in '--format zip' '--format npy' '--format npy --output-spec fp32:1x3x8x8' '--format raw --as-uint' \
  '--format npy --shuffle --tensor 0' '--format raw --layout coo --tensor 0'; do
  btftool convert $options "$in" - | wc -c
done
ls
