# DequantizeLinear nodes say which initializers are scales and zero points, and of which dim: of all, of dim 1 where none is
# said, of a dim from the front or the end. The numbers are those that ONNX gives.
codes=$TESTDATA/onnx/quantized.onnx
numbers=$TESTDATA/onnx/quantized.numbers.onnx
btftool diff --dequantize "$codes" "$numbers"; echo "exit $?"
btftool -q diff --dequantize "$numbers" "$codes"; echo "exit $?"
btftool -q diff "$codes" "$numbers"; echo "exit $?"
btftool -q convert --dequantize "$codes" numbers.npz; echo "exit $?"
btftool diff numbers.npz "$numbers" | tail -n 1
# As BTF it keeps what belongs to what.
btftool -q convert "$codes" codes.btf
btftool -q diff --dequantize codes.btf "$numbers"; echo "exit $?"
