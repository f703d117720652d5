# A model in several files with an index is one set; in a directory its files count once.
model=$TESTDATA/safetensors-sharded
index=$model/model.safetensors.index.json
btftool inspect "$index"
btftool inspect "$model" | cmp - <(btftool inspect "$index") && echo "the directory and the index are the same"
btftool inspect --tensor 'layers.1*,-1' "$index"
btftool validate "$index" "$model"
btftool convert "$index" one.safetensors && cmp one.safetensors "$TESTDATA/safetensors/sharded_whole.safetensors"
btftool diff "$index" one.safetensors; echo "exit $?"
btftool diff "$index" "$model" | tail -n 1
btftool convert --format npy "$index" arrays/ && (cd arrays && find . -type f | sort)

echo "== in the cache of a hub every file is a link"
mkdir -p hub/blobs hub/snapshot links
for file in "$model"/*; do
  cp "$file" hub/blobs/ && ln -s "../blobs/${file##*/}" hub/snapshot/
done
btftool inspect hub/snapshot | tail -n 1
(cd hub/snapshot && btftool inspect --tensor norm model.safetensors.index.json)

echo "== not as the index says"
mkdir less more gone
cp "$model"/* less/ && btftool convert --exclude layers.0.q "$model/model-00001-of-00002.safetensors" less/model-00001-of-00002.safetensors
btftool inspect less/*.json | head -n 1; echo "exit ${PIPESTATUS[0]}"
btftool inspect less | head -n 1; echo "exit ${PIPESTATUS[0]}"
btftool validate less; echo "exit $?"
btftool convert less/*.json out.btf; echo "exit $?"
cp "$model"/* more/ && sed -i 's/.*"layers.0.k".*//; s/1234567/7654321/' more/*.json
btftool inspect more/*.json | tail -n 1
btftool validate more; echo "exit $?"
btftool convert more/*.json out.btf; echo "exit $?"
cp "$model"/model-00001* "$model"/*.json gone/
btftool inspect gone | tail -n 1; echo "exit ${PIPESTATUS[0]}"
btftool inspect gone/*.json | tail -n 1
echo "== indexes that are none"
while IFS= read -r text; do
  printf '%s' "$text" >bad.safetensors.index.json
  btftool inspect bad.safetensors.index.json; echo "exit $?"
done <<'TEXTS'
{"weight_map":{"a":"../x.safetensors"}}
{"weight_map":{"a":"/etc/passwd"}}
{"weight_map":{"a":".."}}
{"weight_map":{"a":""}}
{"weight_map":{"a":"x\u0000.safetensors"}}
{"weight_map":{"a":"x.safetensors","a":"y.safetensors"}}
{"weight_map":{"a":1}}
{"weight_map":["a"]}
{"weight_map":{}}
{"metadata":{"total_size":1}}
[]
{"weight_map":{"a":"x.safetensors"}
{"weight_map":{"a":"no.safetensors"}}
TEXTS
mkdir bad && cp bad.safetensors.index.json "$model"/model-00001* bad/ && echo '{' >bad/other.safetensors.index.json
btftool inspect bad | head -n 1
