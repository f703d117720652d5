# Every command takes TVM's parameters: by name, through pipes, compressed, and beside other formats.
needs zstd --version
files=$TESTDATA/tvm
btftool inspect "$files/dump.params"
btftool inspect --json --tensor 1 "$files/dump.params"; echo
btftool inspect "$files/foreign.params"
btftool validate "$files/foreign.params" | head -n 3
btftool inspect --stats --tensor vector "$files/foreign.params"; echo "exit $?"
btftool inspect --values 3 --tensor '@x.int4' "$files/nibbles.params"; btftool convert "$files/nibbles.params" nibbles.params; echo "exit $?"

# Out and back, and through pipes: what is written anywhere and what goes front to back are the same.
btftool convert "$files/types.params" t.btf && btftool convert t.btf back.params && cmp back.params "$files/types.params"
cat "$files/types.params" | btftool convert --format tvm - - | cmp - "$files/types.params"
btftool convert "$files/types.params" t.params.zst && zstd -dcq t.params.zst | cmp - "$files/types.params"
btftool convert --tensor "x.int8,x.int32,x.float32" "$files/types.params" t.npz && btftool diff t.npz "$files/types.params" --tensor "x.int32,x.float32" | tail -n 1
btftool diff "$files/types.params" "$files/types.btf" | tail -n 1
# No more of a stream is taken than its headers want.
(cat "$files/types.params"; yes) | btftool inspect -; echo "exit $?"
(head -c 1000 "$files/types.params") | btftool inspect -; echo "exit $?"
(head -c 1000 "$files/types.params" | zstd -qc; tail -c +1001 "$files/types.params" | zstd -qc) >two.zst
btftool diff two.zst "$files/types.params" | tail -n 1
(head -c 1000 "$files/types.params" | zstd -qc; tail -c +1001 "$files/types.params" | head -c 300 | zstd -qc) >cut.zst
btftool inspect cut.zst; echo "exit $?"
head -c 30000000 /dev/zero | zstd -qc >zeros && (zstd -qc "$files/types.params"; cat zeros) >bomb.zst
btftool inspect bomb.zst; echo "exit $?"
btftool inspect --input-spec fp16 "$files/types.params"; echo "exit $?"
