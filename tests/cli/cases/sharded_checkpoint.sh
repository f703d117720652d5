# A sharded checkpoint: small files beside it, its index in a directory of results, and a tensor that two shards hold.
needs python3 --version
python3 - <<'P'
import json, os, struct
def shard(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        raw = struct.pack("<%df" % len(values), *values)
        header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
os.mkdir("hf")
shard("hf/model-00001-of-00002.safetensors", {"a": [1, 2], "twice": [0, 0]})
shard("hf/model-00002-of-00002.safetensors", {"b": [3, 4], "twice": [5, 6]})
shard("golden.safetensors", {"a": [1, 2], "b": [3, 4], "twice": [5, 6]})
first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
json.dump({"metadata": {"total_size": 24}, "weight_map": {"a": first, "b": second, "twice": second}}, open("hf/model.safetensors.index.json", "w"))
for name, text in {"config.json": "{}", "README.md": "# x", "LICENSE": "MIT\n", "merges.txt": "", "list.json": "[]", ".gitattributes": "*"}.items():
    open("hf/" + name, "w").write(text)
P
btftool inspect hf; echo "exit $?"
btftool convert --dtype fp16 hf half/; echo "exit $?"
ls half; cat half/model.safetensors.index.json
btftool diff hf golden.safetensors; echo "exit $?"
btftool diff golden.safetensors half/model.safetensors.index.json --close; echo "exit $?"
btftool validate hf | tail -n 3
btftool convert --format safetensors hf/*.safetensors again/ && ls again
btftool convert --format npz hf npz/ && ls npz
