# With --strict what files say of tensors beside their elements is compared too: links, axes, roles, metadata.
model=$TESTDATA/onnx/quantized.onnx
sed 's/axis\x18\x00/axis\x18\x01/' "$model" >axis.onnx
btftool diff axis.onnx "$model" | tail -n 1
btftool diff --strict axis.onnx "$model"; echo "exit $?"
btftool -q diff --strict "$model" "$model"; echo "exit $?"
# Asked for numbers, the axis is said too.
btftool diff --dequantize axis.onnx "$model" | grep -A 1 -e different: -e hint; echo "exit ${PIPESTATUS[0]}"
sed 's/DequantizeLinear/DequantizeLineaR/' "$model" >links.onnx
btftool diff --strict --json links.onnx "$model" | grep -o '"reason":"[^"]*"'
# The same in BTF, which keeps it; against another format only what both say counts.
btftool -q convert axis.onnx axis.btf && btftool -q convert "$model" model.btf
btftool diff --strict axis.btf model.btf | grep different:
btftool -q diff --strict model.btf "$model"; echo "exit $?"
btftool -q convert "$model" model.npz && btftool -q diff --strict axis.onnx model.npz; echo "exit $?"
# What is said of a file goes with its first tensor.
safetensors() { printf "\\x$(printf %x ${#1})\0\0\0\0\0\0\0%s\0\0\0\0" "$1"; }
tensor='"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
safetensors '{"__metadata__":{"format":"pt","by":"a"},'"$tensor" >a.safetensors
safetensors '{"__metadata__":{"format":"pt","by":"\u001b"},'"$tensor" >b.safetensors
safetensors '{"__metadata__":{"format":"pt","on":"x"},'"$tensor" >c.safetensors
for other in b c; do btftool diff --strict a.safetensors $other.safetensors; echo "exit $?"; done
btftool diff a.safetensors c.safetensors; echo "exit $?"
