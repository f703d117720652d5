# Scales with a zero point: both ends of the data get codes.
in=$TESTDATA/good/mixed.btf
btftool convert --tensor 1 --dtype uint8 --scale auto "$in" u8.btf; echo "exit $?"
btftool convert --tensor 1 --dtype uint8 --scale auto --zero-point auto "$in" u8.btf; echo "exit $?"
btftool inspect u8.btf
btftool inspect --tensor 2 --values u8.btf | tail -1
btftool -q convert --dequantize --zero-point auto u8.btf back.btf; echo "exit $?"
btftool -q convert --dequantize u8.btf zero.btf; echo "exit $?"
btftool -q convert --dequantize --zero-point 128 u8.btf zero.btf; echo "exit $?"
btftool -q convert --tensor 1 "$in" weights.btf
btftool diff --atol 0.001 back.btf weights.btf
btftool convert --tensor 1 --dtype int8 --scale auto --zero-point 10 "$in" s8.btf; echo "exit $?"
btftool convert --tensor 1 --dtype int4 --scale auto --zero-point auto --scale-axis 1 "$in" s4.btf; echo "exit $?"
btftool inspect s4.btf
btftool inspect --tensor 2 --values s4.btf | tail -1
btftool convert --json --tensor 1 --dtype uint8 --scale auto --zero-point auto "$in" u8.btf 2>/dev/null | grep -o '"scales":.*"scale_records":[^l]*'
btftool -q convert --dequantize --zero-point auto weights.btf back.btf; echo "exit $?"
btftool convert --tensor 1 --dtype fp8 --scale auto --zero-point auto "$in" out.btf; echo "exit $?"
btftool convert --dtype uint8 --scale 0.5 --zero-point auto "$in" out.btf; echo "exit $?"
btftool convert --dtype uint8 --scale auto --zero-point some "$in" out.btf; echo "exit $?"
