# Names that other programs give, maps, lists of names, and what is not paired.
golden=$TESTDATA/layers/golden.npz
healthy=$TESTDATA/layers/healthy.npz
btftool layers --pairs "$TESTDATA/layers/hooks.npz" "$golden"; echo "exit $?"
# As trtexec dumps them: numbers in front, and what is no letter is an underscore.
btftool -q convert "$healthy" dumps/ --format npy
btftool layers dumps "$golden" | grep -o "[0-9]* of [0-9]* tensors paired ([^)]*)"
mkdir numbered
number=0
while read -r name; do
  cp "dumps/$(echo "$name" | sed 's,/,%2f,g').npy" "numbered/$(printf %04d $number)_$(echo "$name" | tr / _).npy"
  number=$((number + 1))
done <"$TESTDATA/layers/order.txt"
btftool layers --json numbered "$golden" >report.json; echo "exit $?"
grep -o '"tier":"[a-z]*"' report.json | sort | uniq -c
grep -o '"order":{[^}]*}' report.json
# A map: names, and a pattern.
btftool -q convert "$healthy" renamed.npz --rename /block0/Add_output_0=a --rename /block1/Add_output_0=b
btftool layers --json renamed.npz "$golden" | grep -o '"actual_only":[^]]*],"golden_only":[^]]*]'
printf '# by hand\na\t/block0/Add_output_0\nb\t/block1/Add_output_0\n' >map.txt
btftool layers --map map.txt renamed.npz "$golden" | head -n 5
btftool layers --map map.txt --pairs renamed.npz "$golden" | grep -P '^[ab]\t'
printf '/^([ab])$/\\/block$1\\/Add_output_0/\n' >map.txt
printf '/^a$/\\/block0\\/Add_output_0/\n' >map.txt
btftool layers --map map.txt --json renamed.npz "$golden" | grep -o '"actual_only":[^]]*],"golden_only":[^]]*]'
# The wrong order: it shows, and what is told is told with doubt.
sort -R --random-source="$golden" "$TESTDATA/layers/order.txt" >shuffled.txt
btftool layers --order shuffled.txt --json "$TESTDATA/layers/dead_channel.npz" "$golden" | grep -o '"order":{[^}]*}'
btftool layers --order "$TESTDATA/layers/order.txt" "$TESTDATA/layers/dead_channel.npz" "$golden" | head -n 2
# All must be there.
btftool -q layers "$TESTDATA/layers/missing.npz" "$golden"; echo "exit $?"
btftool -q layers --require-all "$TESTDATA/layers/healthy.npz" "$golden"; echo "exit $?"
btftool -q convert "$healthy" some.npz --exclude /block3/Add_output_0
btftool -q layers some.npz "$golden"; echo "exit $?"
btftool -q layers --require-all some.npz "$golden"; echo "exit $?"
btftool -q convert "$healthy" no_output.npz --exclude output
btftool layers --graph "$TESTDATA/layers/model.onnx" no_output.npz "$golden" | head -n 3; echo "exit ${PIPESTATUS[0]}"
