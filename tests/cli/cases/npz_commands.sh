# Every command takes .npz, however it was written, and tensors go by their names.
npz=$TESTDATA/npz
btftool inspect "$npz/arrays.mixed.npz" "$npz/names.npz" "$npz/foreign.npz" "$npz/nothing.npz"
btftool inspect --json --tensor scalar --values "$npz/arrays.deflated.npz"
btftool inspect --json --tensor text "$npz/foreign.npz"
btftool inspect --stats --tensor int16.big "$npz/arrays.deflated.npz"
btftool inspect --at 1,2,3 --tensor float32.little - <"$npz/arrays.pipe.npz"
btftool diff "$npz/arrays.numpy.npz" "$npz/arrays.deflated-pipe.npz"
btftool diff "$npz/arrays.btf" "$npz/arrays.zip64.npz"
btftool validate "$npz/arrays.infozip.npz" "$npz/foreign.npz"
btftool validate --strict "$npz/foreign.npz"
btftool inspect --stats --tensor complex "$npz/foreign.npz"
btftool convert "$npz/foreign.npz" out.btf
btftool convert --tensor data "$npz/foreign.npz" data.npy && btftool inspect data.npy
btftool inspect --input-spec bf16 "$npz/void_bfloat16.npz"
btftool convert --dtype fp16 --tensor '*.little' "$npz/arrays.deflated.npz" half.npz && btftool inspect half.npz
btftool convert --tensor 0 "$npz/arrays.btf" "$npz/void_int4.btf" packed.npz && btftool inspect packed.npz
btftool convert --names /dev/stdin "$npz/void_int4.btf" named.npz <<<$'first\nsecond' && btftool inspect named.npz
btftool convert --names /dev/stdin "$npz/void_int4.btf" twice.npz <<<$'first\nfirst'
btftool convert --format npz "$npz/void_int4.btf" - | cat | btftool inspect -
cp "$npz/arrays.numpy.npz" damaged.npz
printf '\377' | dd of=damaged.npz bs=1 seek=200 conv=notrunc 2>/dev/null
btftool inspect --tensor 0 damaged.npz && btftool validate damaged.npz
# Compressed, in one frame and in two without a seek table; and what is computed on the way.
{ head -c 300 "$npz/arrays.mixed.npz" | zstd -qc; tail -c +301 "$npz/arrays.mixed.npz" | zstd -qc; } >two.npz.zst
btftool diff two.npz.zst "$npz/arrays.btf" | tail -1
zstd -qc "$npz/arrays.pipe.npz" | btftool diff -q - "$npz/arrays.btf" && echo "same through a pipe"
btftool -q convert --tensor 0 --dtype int8 --scale auto "$TESTDATA/good/mixed.btf" scaled.npz
btftool validate scaled.npz && btftool inspect scaled.npz
