# What could not be read back is not written: 255 dims are the most, and some layouts store one more.
dims=$(printf '1x%.0s' {1..254})3
printf 'abc' | btftool convert --input-spec "int8:$dims" - in.btf; echo "exit $?"
btftool convert --layout kCHW4 in.btf out.btf 2>/dev/null; echo "exit $?"
btftool inspect out.btf 2>/dev/null | wc -l
rm out.btf
btftool convert --layout kCHW4 --plain in.btf out.btf 2>&1 | grep -v 'at most 8 dims'; echo "exit ${PIPESTATUS[0]}"
btftool convert --layout kCHW4 --plain in.btf out.npy 2>&1 | grep -v 'at most 8 dims'; echo "exit ${PIPESTATUS[0]}"
ls
