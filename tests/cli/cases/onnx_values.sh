# What Constant nodes hold, in graphs, subgraphs and functions; sequences and optionals; codes made wider with a sign.
files=$TESTDATA/onnx
btftool inspect --values "$files/constants.forms.onnx"; echo "exit $?"
btftool validate "$files/constants.forms.onnx"
btftool inspect --json --tensor tensor,own::f/choose/then_branch/w "$files/constants.forms.onnx" | grep -o '"name":"[^"]*"'
sed 's/\xf9\xff\xff\xff\xff\xff\xff\xff\xff\x01/\xf8\xff\xff\xff\xff\xff\xff\xff\xff\x01/' "$files/constants.forms.onnx" >other.onnx
btftool diff --tensor '!string*' other.onnx "$files/constants.forms.onnx" | grep '^x\|different: '; echo "exit ${PIPESTATUS[0]}"
btftool -q convert --tensor 'int*,float*,sparse' "$files/constants.forms.onnx" out.npz && btftool diff --tensor 'int*,float*,sparse' out.npz "$files/constants.forms.onnx" | tail -n 1
for file in sequence sequence.unnamed sequence.nested sequence.maps sequence.optionals optional; do
  btftool inspect --values "$files/$file.pb"; btftool validate "$files/$file.pb"
done
cat "$files/sequence.pb" | btftool inspect - | tail -n 2
btftool diff "$files/sequence.pb" "$files/sequence.unnamed.pb" --pair-by number | tail -n 1
mkdir a b && cp "$files/sequence.unnamed.pb" a/input_0.pb && cp "$files/sequence.unnamed.pb" b/input_0.pb && cp "$files/optional.pb" a/output_0.pb && cp "$files/optional.pb" b/output_0.pb
btftool diff a b | tail -n 1
btftool -q convert "$files/sequence.pb" out && btftool inspect out | grep '#[0-9]'
btftool inspect --values "$files/wider.float16.pb"
btftool inspect --values "$files/wider.int4.pb"
