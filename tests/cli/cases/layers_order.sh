# A list of some names: what it leaves out is judged all the same, where it stands without the list.
golden=$TESTDATA/layers/golden.npz
broken=$TESTDATA/layers/dead_channel.npz
show() { btftool layers "$@" | grep -v -e '▁'; echo "exit ${PIPESTATUS[0]}"; }
head -n 4 "$TESTDATA/layers/order.txt" >first.txt
tail -n 3 "$TESTDATA/layers/order.txt" >last.txt
(cat first.txt first.txt; echo no_such_layer; echo conv9; echo; echo "# a comment") >some.txt
for list in first last some; do
  show --no-hints --order $list.txt "$broken" "$golden"
  btftool -q layers --order $list.txt "$TESTDATA/layers/healthy.npz" "$golden"; echo "healthy: exit $?"
done
btftool layers --json --order some.txt "$broken" "$golden" >report.json
grep -o '"order":{[^}]*}' report.json
btftool layers --json --from-json report.json | cmp - report.json
# Where no order is kept, names are the next best.
for set in "$broken" "$golden"; do btftool -q convert "$set" $(basename "$set" .npz).safetensors; done
show --no-hints --order first.txt dead_channel.safetensors golden.safetensors | grep -A 1 -e trust -e "exit"
# The list goes before the graph, which places the others.
show --no-hints --order first.txt --graph "$TESTDATA/layers/model.onnx" "$broken" "$golden"
# What a graph does not know is no reason to say that all is well.
rename="--rename /block1/fc2/MatMul_output_0=lost"
btftool -q convert "$golden" golden.npz $rename
btftool -q convert "$TESTDATA/layers/dump.npz" dump.npz $rename
btftool -q convert "$TESTDATA/layers/healthy.npz" healthy.npz $rename
show --graph "$TESTDATA/layers/model.onnx" dump.npz golden.npz
btftool -q layers --graph "$TESTDATA/layers/model.onnx" healthy.npz golden.npz; echo "healthy: exit $?"
# A list that names nothing is no list.
echo nothing >none.txt
btftool layers --order none.txt "$broken" "$golden"; echo "exit $?"
