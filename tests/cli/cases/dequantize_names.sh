# Scales and zero points by their names, wherever they stand; scales of one dim belong to the dim that is as long.
codes=$TESTDATA/onnx/quantized.onnx
numbers=$TESTDATA/onnx/quantized.numbers.onnx
btftool -q convert --tensor usual --slice 0 "$codes" w.npz --rename usual=w
btftool -q convert --tensor usual --slice 0 "$numbers" golden.npz --rename usual=w
btftool -q convert --tensor z_usual,s_usual "$codes" scales.npz --rename s_usual=w_scale --rename z_usual=w_zero_point
btftool -q convert scales.npz w.npz before.npz
btftool -q convert before.npz dots.safetensors --rename w_scale=w.scale --rename w_zero_point=w.zp
for file in before.npz dots.safetensors; do
  btftool diff --dequantize $file golden.npz | tail -n 1
  btftool -q convert --dequantize $file numbers.npz && btftool diff numbers.npz golden.npz | tail -n 1
done
btftool layers --dequantize before.npz golden.npz | head -n 1
# Zero points are integers of any width, within the dtype of the codes.
btftool -q convert --tensor w_zero_point before.npz zero.npz --dtype int64
btftool -q convert --tensor '!w_zero_point' before.npz rest.npz
btftool -q convert rest.npz zero.npz wide.npz && btftool diff --dequantize wide.npz golden.npz | tail -n 1
btftool -q convert zero.npz far.npz --dtype fp32
btftool -q convert far.npz far2.npz --dtype int64 --scale 0.001
btftool -q convert rest.npz far2.npz beyond.npz
btftool diff --dequantize beyond.npz golden.npz; echo "exit $?"
# Two dims are as long.
btftool -q convert --tensor usual,s_usual "$codes" unclear.npz --rename usual=w --rename s_usual=w_scale
btftool diff --dequantize unclear.npz "$numbers" --pair 0:2; echo "exit $?"
btftool convert --dequantize unclear.npz numbers.npz; echo "exit $?"
# The wrong names.
btftool -q convert --tensor usual,s_usual "$codes" other.npz --rename s_usual=of_w
btftool convert --dequantize --tensor usual other.npz numbers.npz; echo "exit $?"
