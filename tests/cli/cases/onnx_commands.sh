# Every command takes ONNX's tensors and models: by name, through pipes, compressed, in directories.
needs zstd --version
files=$TESTDATA/onnx
btftool inspect "$files/graph.onnx"
btftool inspect --json --tensor weight "$files/graph.onnx"; echo
btftool inspect --values 8 --tensor '@x.int4' "$files/types.packed.onnx"
btftool inspect "$files/foreign.onnx"
btftool validate "$files/foreign.onnx"
btftool inspect --stats --tensor strings "$files/foreign.onnx"; echo "exit $?"
btftool inspect "$files/sparse.onnx" "$TESTDATA/onnx-external/model.onnx"
btftool validate "$TESTDATA/onnx-external/unknown-key.onnx"
btftool diff "$files/types.raw.onnx" "$files/types.single.onnx" | tail -n 1
btftool convert --layout kLINEAR --names drop "$files/sparse.onnx" dense.btf && cmp dense.btf "$files/sparse.btf"

# The data of a test are a set, whose tensors are called as they say, or after their files.
btftool inspect "$TESTDATA/onnx-set"
btftool diff "$TESTDATA/onnx-set" "$TESTDATA/onnx-set" | tail -n 1
mkdir half out
btftool convert --dtype fp16 "$TESTDATA/onnx-set" half && ls half && btftool inspect --tensor 'softmax*' half

# Out and back: a file for each tensor; a file of one tensor keeps its name.
btftool convert --format onnx "$files/types.raw.onnx" out && ls out
cmp out/x.int4.pb "$files/tensor_int4.pb" && btftool diff out/x.int4.pb "$files/tensor_int4.pb"
btftool convert --format onnx --tensor x.bool "$files/types.raw.onnx" - | cmp - "$files/tensor_bool.pb"
btftool convert "$files/graph.onnx" all.pb; echo "exit $?"
btftool convert --tensor weight "$files/graph.onnx" a.onnx; echo "exit $?"

# What comes through a pipe is known by its fields.
cat "$files/tensor_float16.pb" | btftool inspect -
zstd -qc "$files/graph.onnx" | btftool inspect --tensor @1017 -
cat "$TESTDATA/onnx-external/model.onnx" | btftool inspect --tensor 0 -; echo "exit $?"
(cat "$files/tensor_float16.pb"; yes) | head -c 30000000 | btftool inspect -; echo "exit $?"
btftool inspect --input-spec fp16 "$files/scalar.pb"; echo "exit $?"
echo "== data of a model are no file of their own beside it"
mkdir hub && sed 's/weights\.bin/a.onnx_data/' "$TESTDATA/onnx-external/model.onnx" >hub/a.onnx
cp "$TESTDATA/onnx-external/weights.bin" hub/a.onnx_data && cp "$TESTDATA/onnx-external/nibbles.bin" hub/
btftool inspect hub; echo "exit $?"
cp hub/a.onnx_data hub/b.onnx_data && btftool inspect hub | tail -n 1; echo "exit ${PIPESTATUS[0]}"
exit 0
