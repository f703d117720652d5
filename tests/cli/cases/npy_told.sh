# Arrays whose dtype NumPy has no name for, and what must be told of them.
npy=$TESTDATA/npy
btftool inspect "$npy/void_bfloat16.npy"
btftool inspect --input-spec bf16 --at 0,0,2 "$npy/void_bfloat16.npy"
btftool inspect --input-spec int4 --at 1,1,1 "$npy/void_int4.npy"
btftool diff --actual-spec fp8 "$npy/void_float8_e4m3fn.npy" "$npy/void_float8_e4m3fn.btf"
btftool diff --golden-spec fp4 "$npy/void_float4_e2m1fn.btf" "$npy/void_float4_e2m1fn.npy"
btftool validate --input-spec fp32 "$npy/void_bfloat16.npy"
btftool inspect --input-spec fp32 "$npy/int32.c.little.v1.npy"
btftool inspect --input-spec int32:2x3x5 "$npy/int32.c.little.v1.npy"
btftool inspect --input-spec int32 "$TESTDATA/good/mixed.btf"
