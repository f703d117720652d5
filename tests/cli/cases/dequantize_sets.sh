# Where tensors of two sets are paired by name, scales that stand in the file of their codes are none to compare.
btftool convert -q --tensor 0,1 "$TESTDATA/layers/golden.npz" numbers.npz
mkdir a b
btftool -q convert --dtype int8 --scale auto numbers.npz a/codes.safetensors && btftool inspect a | grep -o '[^ ]*_scale'
btftool -q convert numbers.npz b/numbers.safetensors
btftool diff --dequantize --atol 0.05 a b; echo "exit $?"
btftool diff --dequantize --atol 0.05 b a | tail -n 1
btftool diff --atol 0.05 a b | grep -c 'no golden tensor'
btftool diff --dequantize --tensor 'input*' --atol 0.05 a b | grep 'no golden tensor'
