# dump.json by hand: NaN and Inf in both forms, wrong types with their place, one that is cut off, and one of another tool.
mkdir good
tensor='"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3]'
wrap() { printf '{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {%s}}' "$1"; }
wrap "\"Torch.relu.0.forward\": {\"output\": [{$tensor, \"Max\": 1, \"Min\": -1, \"Mean\": 0.5, \"Norm\": 2}]}" >good/dump.json
while IFS= read -r text; do
  mkdir -p bad
  wrap "$text" >bad/dump.json
  echo "-- $text"
  btftool layers bad good | head -2; echo "exit ${PIPESTATUS[0]}"
done <<TEXTS
"Torch.relu.0.forward": {"output": [{$tensor, "Max": NaN, "Min": NaN, "Mean": NaN, "Norm": NaN}]}
"Torch.relu.0.forward": {"output": [{$tensor, "Max": "inf", "Min": "-1", "Mean": "Infinity", "Norm": "inf"}]}
"Torch.relu.0.forward": {"output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 4], "Max": 1, "Min": -1, "Mean": 0.5, "Norm": 2}]}
"Torch.relu.0.forward": {"output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4294967296, 4294967296, 3], "Max": 1, "Min": -1, "Mean": 0.5, "Norm": 2}]}
"Torch.relu.0.forward": {"output": [{$tensor, "Max": "much", "Min": -1}]}
"Torch.relu.0.forward": {"output": [{$tensor, "Max": [1]}]}
"Torch.relu.0.forward": {"output": {"Max": [{$tensor, "Max": 1, "Min": -1, "Mean": 0.5, "Norm": 2}]}}
"Torch.relu.0.forward": {"output": [{$tensor, "Max": 1e999}]}
"Torch.relu.0.forward": {"output": [{"dtype": 7, "shape": [2, 3]}]}
"Torch.relu.0.forward": {"output": [{"dtype": "torch.float32", "shape": 6}]}
"Torch.relu.0.forward": {"output": [{"dtype": "torch.float32", "shape": [-1]}]}
"Torch.relu.0.forward": {"output": [{"dtype": "torch.float32", "data_name": "x.pt"}]}
"Torch.relu.0.forward": {"output": [{$tensor, "data_name": "../x.pt"}]}
"Torch.relu.0.forward": [1]
"Torch.relu.0.forward": {"output": []}
"Torch.relu.0.forward": {"output": [{$tensor, "Max": null, "Min": null, "Mean": null, "Norm": null}]}
TEXTS
echo "== cut off"
head -c 150 good/dump.json >bad/dump.json
btftool layers bad good; echo "exit $?"
(cat good/dump.json | head -c -3; printf ', "Torch.add.0.for') >bad/dump.json
btftool layers bad good; echo "exit $?"
echo "== a dump.json of another tool is a file beside the tensors"
mkdir -p other && cp "$TESTDATA"/npy/float32.c.little.v1.npy other/
echo '{"results": [1, 2]}' >other/dump.json
btftool diff --summary other other | tail -1
