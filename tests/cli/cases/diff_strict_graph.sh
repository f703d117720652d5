# Two models whose tensors are the same and whose graphs are not.
model=$TESTDATA/layers/weights.onnx
sed 's/relu/ReLU/g; s/Softmax/SoftmaX/g' "$model" >other.onnx
btftool diff other.onnx "$model" | tail -n 2; echo "exit ${PIPESTATUS[0]}"
btftool diff --strict other.onnx "$model" | tail -n 6; echo "exit ${PIPESTATUS[0]}"
btftool diff --strict --json other.onnx "$model" | grep -o '"differences":\[{[^}]*}'
btftool diff --strict --summary other.onnx "$model"; echo "exit $?"
btftool diff --json other.onnx "$model" | grep -o '"uncompared":"[^"]*"'
btftool -q diff --strict "$model" "$model"; echo "exit $?"
# A saved report knows it, and so do parts.
btftool diff --strict --json other.onnx "$model" >report.json
btftool diff --from-json report.json | tail -n 1; echo "exit ${PIPESTATUS[0]}"
for k in 1 2; do btftool -q diff --strict --shard-by tensor --shard $k/2 --part $k.part other.onnx "$model"; done
btftool merge 1.part 2.part | tail -n 1; echo "exit ${PIPESTATUS[0]}"
btftool diff --strict --junit report.xml other.onnx "$model" >/dev/null; grep -c '<failure' report.xml
# In directories they are called by their file.
mkdir a g && cp other.onnx a/m.onnx && cp "$model" g/m.onnx
btftool diff --strict a g | tail -n 3
btftool diff a g | tail -n 2
