# Scales and zero points in Constant nodes; those that no DequantizeLinear takes are tensors like others.
codes=$TESTDATA/onnx/constants.onnx
numbers=$TESTDATA/onnx/constants.numbers.onnx
btftool inspect "$codes"
btftool validate "$codes"; echo "exit $?"
btftool diff --dequantize --tensor whole,rows,again "$codes" "$numbers"; echo "exit $?"
btftool -q convert --dequantize --tensor whole,rows,again "$codes" out.btf; echo "exit $?"
btftool -q diff out.btf "$numbers"; echo "exit $?"
btftool -q layers --dequantize "$codes" "$numbers"; echo "exit $?"
# Scales of blocks along a dim are kept, and applied.
blocks=$TESTDATA/onnx/blocks.onnx
btftool -q convert "$blocks" blocks.btf
btftool -q convert --dequantize --tensor blocked "$blocks" values.btf; btftool inspect --values values.btf
for file in "$blocks" blocks.btf; do
  btftool -q convert --dequantize "$file" numbers.btf && cmp numbers.btf values.btf
  btftool diff --dequantize "$file" values.btf; echo "exit $?"
  btftool layers --dequantize "$file" values.btf | head -n 1
done
grep -ao '"quantized":{[^}]*}' blocks.btf
