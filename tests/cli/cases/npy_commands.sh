# Every command takes .npy, whatever its order and byte order.
npy=$TESTDATA/npy
btftool inspect --strides --at 1,2,3 "$npy/float32.f.big.v2.npy" "$npy/float16.c.little.v1.npy"
btftool inspect --json --tensor 0 --slice 0,0 "$npy/int16.f.big.v1.npy"
btftool diff "$npy/float32.f.big.v2.npy" "$npy/float32.c.little.v1.npy"
btftool diff "$npy/float32.f.big.v2.npy" "$npy/float32.btf"
btftool validate "$npy/float64.f.big.v1.npy"
btftool inspect - <"$npy/shape_scalar.npy"
cp "$npy/int32.c.little.v1.npy" no-suffix
btftool convert --layout coo no-suffix out.btf && btftool inspect out.btf
