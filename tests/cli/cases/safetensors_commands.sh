# Every command takes safetensors: by name, through pipes, compressed, and beside other formats.
files=$TESTDATA/safetensors
btftool inspect "$files/types.safetensors"
btftool inspect "$files/names.safetensors" --json --tensor 0,5 | head -c 600; echo
btftool inspect "$files/foreign.safetensors"
btftool inspect --json "$files/foreign.safetensors" --tensor 1
btftool inspect --stats "$files/foreign.safetensors" --tensor 'complex,b'; echo "exit $?"
btftool validate "$files/foreign.safetensors"; echo "exit $?"
btftool inspect --values 3 --tensor '@x.float16' "$files/types.safetensors"

# Out and back, file by file and through pipes: what is written anywhere and what goes front to back are the same.
btftool convert "$files/types.safetensors" t.btf
btftool convert --names drop "$files/types.safetensors" plain.btf && cmp plain.btf "$files/types.btf"
cat "$files/types.safetensors" | btftool convert --format safetensors - - | cmp - "$files/types.safetensors"
btftool convert --compress "$files/order.safetensors" o.safetensors.zst && btftool convert o.safetensors.zst o.safetensors
cmp o.safetensors "$files/order.canonical.safetensors"
cat "$files/order.safetensors" | btftool convert --format safetensors --compress - - | zstd -dcq | cmp - o.safetensors
(head -c 9 "$files/order.safetensors"; sleep 0.2; tail -c +10 "$files/order.safetensors") | btftool inspect - | head -n 1

btftool diff "$files/order.safetensors" o.safetensors
btftool diff "$files/types.safetensors" "$files/types.btf" | head -n 3
btftool convert --tensor 0 "$files/types.safetensors" out.safetensors.npy && btftool inspect out.safetensors.npy
btftool convert --tensor 0,0 "$files/types.safetensors" out.safetensors; echo "exit $?"
btftool convert --layout hwc8 "$TESTDATA/good/mixed.btf" out.safetensors; echo "exit $?"
btftool convert "$TESTDATA/good/scalars.btf" out.safetensors; echo "exit $?"
btftool convert "$TESTDATA/good/mixed.btf" out.safetensors && btftool inspect out.safetensors
cp "$files/types.btf" named.safetensors && btftool inspect named.safetensors | head -n 1
