# Bytes of elements apart, for compressing; every command reads it.
in="$TESTDATA/good/shuffled.linear.btf"
btftool convert --shuffle "$in" shuffled.btf && cmp shuffled.btf "$TESTDATA/good/shuffled.btf"
btftool convert --layout shuffled "$in" by_name.btf && cmp by_name.btf shuffled.btf
btftool convert --layout kLINEAR --shuffle "$in" both.btf && cmp both.btf shuffled.btf
btftool convert --layout kLINEAR shuffled.btf linear.btf && cmp linear.btf "$in"
btftool convert --plain shuffled.btf plain.btf && cmp plain.btf "$in"
# As it is, it stays as it is; a file of another format is never shuffled.
btftool convert - - <shuffled.btf | cmp - shuffled.btf
btftool convert --shuffle --compress=1 "$in" a.btf.zst
btftool convert a.btf.zst same.btf && cmp same.btf shuffled.btf
btftool convert --tensor 4 shuffled.btf a.npy && btftool inspect a.npy
btftool convert --tensor 4 shuffled.btf a.raw
# A type without bytes to shuffle: kLINEAR.
btftool convert --tensor 0,2 --dtype int8 shuffled.btf small.btf && btftool inspect small.btf
btftool inspect --tensor 2 --strides --at 1,2,3 shuffled.btf
btftool inspect --tensor 2 --stats --slice 0,0,: shuffled.btf
btftool inspect --tensor 2 --json shuffled.btf
btftool validate shuffled.btf
btftool diff shuffled.btf linear.btf | tail -n 2
btftool diff --strict --tensor 0 shuffled.btf linear.btf | tail -n 2
# The rest of a mixed file keeps its layout.
btftool convert --shuffle --tensor 2,3 "$TESTDATA/good/mixed.btf" mixed.btf && btftool inspect mixed.btf
# What cannot be.
for options in '--shuffle --layout kHWC8' '--shuffle --layout coo' '--shuffle --plain' '--layout shuffled --plain' \
  '--shuffle --output-spec fp32:3x5x7'; do
  btftool convert $options "$in" wrong
  echo "$options: exit code $?"
done
btftool convert --shuffle --tensor 0 "$in" wrong.npy
btftool convert --layout shuffled --tensor 0 "$in" wrong.raw
btftool inspect --input-spec fp32:shuffled:2x3 "$in"
ls
