# Shards hold other parts of a model under the same names, weights are stored once that the other side stores twice, and an index gives a tensor to one of
# two shards that hold it: of sets as of two files, in diff and in layers.
needs python3 -c 'import numpy'
python3 - <<'END'
import json, os, struct
import numpy as np

def save(path, tensors, meta):
    head, data = {"__metadata__": meta}, b""
    for name, x in tensors.items():
        head[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.tobytes()
    text = json.dumps(head).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)

def shards(folder, parts, meta={"format": "pt"}, held={}):
    os.makedirs(folder)
    names = {}
    for i, part in enumerate(parts):
        file = f"model-{i + 1:05d}-of-{len(parts):05d}.safetensors"
        save(f"{folder}/{file}", part, meta)
        names.update({name: file for name in part if held.get(name, i) == i})
    json.dump({"metadata": {}, "weight_map": names}, open(f"{folder}/model.safetensors.index.json", "w"))

r = np.random.default_rng(1)
e, a, b = (r.standard_normal(shape).astype("f4") for shape in [(12, 4), (4, 4), (4, 4)])
embed, head = "model.embed_tokens.weight", "lm_head.weight"
tied = {"format": "pt", head: embed}
shards("full", [{embed: e, "a": a}, {"b": b, head: e}])
shards("meta", [{embed: e}, {"a": a, "b": b}], tied)
shards("config", [{embed: e, "a": a, "b": b}])
json.dump({"tie_word_embeddings": True}, open("config/config.json", "w"))
shards("untied", [{embed: e, "a": a, "b": b}])
json.dump({"tie_word_embeddings": False}, open("untied/config.json", "w"))
os.makedirs("one")
save("one/model.safetensors", {embed: e, "a": a, "b": b}, tied)
shards("moved", [{"b": b, head: e}, {embed: e, "a": a}])
shards("copies", [{embed: e, "a": a, "b": b + 1}, {"b": b, head: e}], held={"b": 1})
shards("wrong", [{embed: e + 1}, {"a": a, "b": b}], tied)
END
for pair in "full meta" "meta full" "full config" "one full" "full one/model.safetensors" "full moved" "copies full" "full copies" "full untied" "full wrong"; do
  echo "== $pair"
  btftool diff $pair >report; code=$?; tail -n 2 report; echo "exit $code"
  btftool layers $pair 2>/dev/null | head -n 3 | grep -v trust
done
echo "== a copy is told once, and what the index means is shown and written"
btftool inspect copies
btftool -q convert copies copies.npz; btftool inspect copies.npz
btftool diff copies.npz full | tail -n 1
btftool -q convert copies/model.safetensors.index.json again/; btftool diff again full | tail -n 1
exit 0
