# A pair that TensorRT does not have is written, with a warning that names the versions that know it.
file=$TESTDATA/good/mixed.btf
convert() { btftool -j 1 convert --tensor 0 "$@" "$file" out.btf 2>&1 | grep warning || echo "no warning: $*"; }
convert --layout kHWC8
convert --layout kHWC8 --dtype fp16
convert --layout kCHW4 --dtype fp16
convert --layout kHWC --dtype bf16
convert --layout kCHW32 --dtype bf16
convert --layout kHWC16 --dtype fp8
convert --layout kDLA_LINEAR --dtype fp8
