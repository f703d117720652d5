# convert --dequantize: scales and zero points that are files of their own beside the codes, as diff and layers find them.
codes=$TESTDATA/onnx/quantized.onnx
numbers=$TESTDATA/onnx/quantized.numbers.onnx
mkdir codes golden
for name in usual whole; do
  btftool -q convert --tensor $name "$codes" codes/$name.npy
  btftool -q convert --tensor s_$name "$codes" codes/${name}_scale.npy
  btftool -q convert --tensor z_$name --dtype int64 "$codes" codes/${name}_zero_point.npy
  btftool -q convert --tensor $name "$numbers" golden/$name.npy
done
# The 3 scales of [3, 3, 4] may be those of two dims, until dims around them say which.
btftool convert --dequantize codes out.npz; echo "exit $?"
btftool -q convert --tensor usual --slice 0 "$codes" codes/usual.npy
btftool -q convert --tensor usual --slice 0 "$numbers" golden/usual.npy
cp codes/usual.npy golden/other.npy
cp codes/usual.npy codes/wide.npy && btftool -q convert --dtype fp32 codes/wide.npy codes/wide.npy
cp codes/wide.npy golden/wide.npy && rm golden/other.npy
btftool convert --dequantize codes out.npz; echo "exit $?"
btftool inspect out.npz
mkdir got
for file in usual whole wide; do btftool -q convert --tensor $file out.npz got/$file.npy; done
btftool -q diff got golden; echo "exit $?"
# Into a directory: the scales have no files of their own any more.
btftool -q convert --dequantize codes numbers/; echo "exit $?"
ls numbers
btftool -q diff numbers golden; echo "exit $?"
btftool -q convert --dequantize --format npy codes again/; echo "exit $?"
ls again
# Several files are a set; the selection is one of codes.
btftool -q convert --dequantize codes/whole.npy codes/whole_scale.npy codes/whole_zero_point.npy whole.npy; echo "exit $?"
btftool -q diff whole.npy golden/whole.npy; echo "exit $?"
btftool -q convert --dequantize --tensor usual codes usual.npy; echo "exit $?"
btftool -q diff usual.npy golden/usual.npy; echo "exit $?"
# What it was made of is said, and a zero point that is given goes before that of a file.
btftool convert --dequantize --json --tensor whole codes json.npy | grep -o '"scales":[^]]*]\|"zero_points":[^]]*]'
btftool -q convert --dequantize --zero-point 0 --tensor whole codes zero.npy; echo "exit $?"
btftool -q diff zero.npy golden/whole.npy; echo "exit $?"
rm codes/whole_zero_point.npy
btftool convert --dequantize --zero-point auto --tensor whole codes zero.npy; echo "exit $?"
# Of the wrong dims; and what is not asked for stays.
cp codes/wide.npy codes/whole_scale.npy
btftool convert --dequantize codes wrong.npz; echo "exit $?"
btftool -q convert codes plain.npz; btftool inspect plain.npz | tail -n +3 | awk '{print $NF}'
# Scales within a file get no files of their own either: linked in front of the codes, by name, or found behind them.
btftool -q convert --tensor s_whole,whole "$codes" pair.npz
btftool -q convert --rename s_whole=whole_scale pair.npz named.npz
btftool -q convert --tensor whole,bare --dtype fp32 "$numbers" some.btf
btftool -q convert --dtype int8 --scale auto --zero-point auto some.btf linked.btf
btftool -q convert --names drop linked.btf places.btf
for file in named.npz linked.btf places.btf; do
  btftool -q convert --dequantize --zero-point auto --format npy $file singles/; echo "exit $?"
  ls singles; rm -rf singles
  btftool -q convert --dequantize --format npy $file singles/; echo "exit $?"
  rm -rf singles
done
