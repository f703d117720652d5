# What is said of runs in which something is missing, small, of another shape or no number; and of a list beside a graph.
golden=$TESTDATA/layers/golden.npz
healthy=$TESTDATA/layers/healthy.npz
broken=$TESTDATA/layers/dead_channel.npz
model=$TESTDATA/layers/model.onnx
fc1=/block1/fc1/MatMul_output_0
fc2=/block1/fc2/MatMul_output_0
# By order alone a layer between what is missing and what broke may be of another branch; a graph knows.
btftool -q convert --exclude $fc1 "$broken" missing.npz
for graph in "" "--graph $model"; do
  btftool layers --no-hints $graph missing.npz "$golden" | sed -n '1,4p; /region/p'
done
# The precision of small tensors is that of their files.
btftool -q convert --tensor 0-5 --slice 0,0,: "$healthy" small.npz
btftool -q convert --tensor 0-5 --slice 0,0,: "$golden" few.npz
btftool layers small.npz few.npz | sed -n '/trust/,/limit/p'
# A pair of another shape has all members of a pair.
btftool -q convert --tensor $fc2 --slice 0,0,0:5 "$healthy" cut.npy
btftool -q convert --exclude $fc2 "$healthy" rest.npz
btftool -q convert --rename cut=$fc2 rest.npz cut.npy cut.npz
printf '%s\t%s\n' $fc2 $fc2 >map.txt
btftool layers --map map.txt --json cut.npz "$golden" >shape.json; echo "exit $?"
members() { grep -o "{\"actual\":\"$1\".*" shape.json | sed 's/"baseline":.*//' | grep -o '"[a-z_]*":' | sort -u; }
members $fc2 >of_shape.txt; members $fc1 >of_others.txt; wc -l <of_shape.txt; comm -13 of_shape.txt of_others.txt
btftool layers --from-json shape.json --json | cmp - shape.json
# NaN that the run which was not watched has not.
btftool -q convert --tensor output "$TESTDATA/layers/nan.npz" nan.npz
for pair in "$healthy nan.npz" "$TESTDATA/layers/nan.npz $healthy"; do
  set -- $pair
  btftool layers --no-hints --expect-output $2 $1 "$golden" | sed -n '/^  watched/,/^  [a-v]* /p' | grep -v trust; echo "exit ${PIPESTATUS[0]}"
done
# A list gives the order, and what is computed from what stays that of the graph.
btftool layers --json --order "$TESTDATA/layers/order.txt" --graph $model "$broken" "$golden" >both.json; echo "exit $?"
grep -o '"order":{[^}]*}' both.json
btftool layers --json --graph $model "$broken" "$golden" >graph.json
inputs() { grep -o '"inputs":\[[^]]*\]' $1; }
cmp <(inputs both.json) <(inputs graph.json)
btftool layers --from-json both.json --json | cmp - both.json
btftool layers --from-json both.json | sed -n '/trust/,/limit/p'
(echo $fc2; echo $fc1) >back.txt
btftool layers --no-hints --order back.txt --graph $model "$healthy" "$golden" | sed -n '1p; /trust/,/limit/p'
# What is no list, no model, and no run of the device.
btftool layers --order $model "$healthy" "$golden"; echo "exit $?"
btftool layers --graph "$golden" "$healthy" "$golden"; echo "exit $?"
btftool -q layers --baseline "$golden" "$healthy" "$golden" 2>warning.txt; echo "exit $?"; cat warning.txt
btftool layers --baseline "$golden" "$healthy" "$golden" 2>&1 >/dev/null | cat
# An error beyond all measure has a short name all the same.
printf '\1\0\0\0\1\0\0\0' >golden.raw
printf '\1\0\0\0\0\0\100\177' >actual.raw
btftool layers --actual-spec float32:linear:2 --golden-spec float32:linear:2 actual.raw golden.raw | grep '▁\|█'
