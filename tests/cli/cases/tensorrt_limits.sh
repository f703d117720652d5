# Dims that no DLA takes, and ranks that TensorRT does not have, are written with a warning.
make() { head -c 9000 /dev/zero | btftool convert -q --input-spec "$1" - "$2"; }
make int8:1x1x9000 wide.btf
btftool convert --layout kDLA_LINEAR wide.btf dla.btf; echo "exit $?"
btftool convert --layout kCHW32 wide.btf chw32.btf; echo "exit $?"
btftool convert --layout kHWC16 wide.btf hwc16.btf; echo "exit $?"
btftool inspect dla.btf
btftool inspect --json dla.btf 2>/dev/null | grep -o '"findings":.*'
btftool validate dla.btf; echo "exit $?"
btftool validate --strict dla.btf; echo "exit $?"
btftool validate --strict hwc16.btf; echo "exit $?"
make int8:1x1x1x1x1x1x9x10x100 nine.btf
btftool convert --layout kCHW4 nine.btf chw4.btf; echo "exit $?"
btftool validate --strict chw4.btf; echo "exit $?"
btftool validate --strict nine.btf; echo "exit $?"
btftool convert --json --layout kDLA_LINEAR --dtype fp32 wide.btf dla.btf 2>/dev/null | grep -o '"warnings":.*'
