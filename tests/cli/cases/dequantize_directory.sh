# Scales and zero points that are files of their own beside the codes; the other side's numbers are those of ONNX.
codes=$TESTDATA/onnx/quantized.onnx
numbers=$TESTDATA/onnx/quantized.numbers.onnx
mkdir actual golden
btftool -q convert --tensor usual --slice 0 "$codes" actual/w.npy
btftool -q convert --tensor s_usual "$codes" actual/w_scale.npy
btftool -q convert --tensor z_usual --dtype int64 "$codes" actual/w_zero_point.npy
btftool -q convert --tensor usual --slice 0 "$numbers" golden/w.npy
btftool diff --dequantize actual golden; echo "exit $?"
btftool -q diff --dequantize golden actual; echo "exit $?"
btftool -q layers --dequantize actual golden; echo "exit $?"
# Not asked for: they are tensors like others.
btftool -q diff actual golden; echo "exit $?"
# What has the name of a scale beside a float is compared.
cp golden/w.npy golden/float.npy; cp golden/w.npy actual/float.npy
cp actual/w_scale.npy actual/float_scale.npy; cp actual/w_scale.npy golden/float_scale.npy
btftool diff --dequantize actual golden; echo "exit $?"
# Of the wrong dims or dtype.
cp actual/w.npy actual/w_scale.npy
btftool -q diff --dequantize actual golden; echo "exit $?"
btftool -q layers --dequantize actual golden; echo "exit $?"
cp actual/float_scale.npy actual/w_scale.npy
cp actual/w_scale.npy actual/w_zero_point.npy
btftool -q diff --dequantize actual golden; echo "exit $?"
