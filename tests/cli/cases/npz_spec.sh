# A spec of an archive is for the arrays that it fits, one with a glob for those that are called so.
npz=$TESTDATA/npz
btftool inspect "$npz/void_bfloat16.npz"
btftool inspect --input-spec bf16 "$npz/void_bfloat16.npz"
btftool inspect --input-spec bf16:2x3x5 "$npz/void_bfloat16.npz" | grep -c bfloat16
btftool inspect --input-spec bf16:9x9 "$npz/void_bfloat16.npz"; echo "exit $?"
btftool inspect --input-spec int8 "$npz/void_bfloat16.npz"; echo "exit $?"
btftool inspect --input-spec fp32:hwc8:1x3x4x4 "$npz/arrays.numpy.npz"; echo "exit $?"
name=$(btftool inspect "$npz/void_bfloat16.npz" | awk 'NR == 4 { print $NF }')
btftool inspect --input-spec "$name=fp16" "$npz/void_bfloat16.npz"
btftool inspect --input-spec "$name=fp32" "$npz/void_bfloat16.npz"; echo "exit $?"
btftool inspect --input-spec 'nothing*=fp16' "$npz/void_bfloat16.npz"; echo "exit $?"
btftool diff --actual-spec "$name=bf16" --golden-spec bf16 "$npz/void_bfloat16.npz" "$npz/void_bfloat16.npz" --tensor "@$name"; echo "exit $?"
btftool diff --actual-spec "$name=fp16" --golden-spec bf16 "$npz/void_bfloat16.npz" "$npz/void_bfloat16.npz" --tensor "@$name" --no-hints | head -n 1
