# Blocks of GGUF: equal bytes of one type are equal, different ones are compared as numbers without being asked.
files=$TESTDATA/gguf
for file in mixed every blocks; do btftool diff "$files/$file.gguf" "$files/$file.gguf" | tail -n 1; done
btftool -q diff --strict "$files/mixed.gguf" "$files/mixed.gguf"; echo "exit $?"
# A code of the first block, and a byte of a type that is not decoded.
cp "$files/mixed.gguf" one.gguf && printf '\x01' | dd of=one.gguf bs=1 seek=230 conv=notrunc status=none
btftool diff --no-hints --tensor blk.0.w one.gguf "$files/mixed.gguf" | head -n 2; echo "exit ${PIPESTATUS[0]}"
offset=$(btftool inspect --json --tensor x.Q8_1 "$files/every.gguf" | grep -o '"data_offset":[0-9]*' | cut -d : -f 2)
cp "$files/every.gguf" other.gguf && printf '\x11' | dd of=other.gguf bs=1 seek=$((offset + 5)) conv=notrunc status=none
btftool -q diff other.gguf "$files/every.gguf"; echo "exit $?"
# The bytes: of blocks that are decoded, of others, of two types.
btftool diff --no-hints --codes --tensor blk.0.w one.gguf "$files/mixed.gguf" | head -n 1; echo "exit ${PIPESTATUS[0]}"
btftool diff --no-hints --codes --tensor x.Q8_1 other.gguf "$files/every.gguf" | head -n 2
btftool -q diff --codes "$files/every.gguf" "$files/every.gguf"; echo "exit $?"
btftool diff --codes --pair x.Q8_0:x.Q4_0 "$files/every.gguf" "$files/every.gguf" | head -n 1
btftool diff --codes --dequantize one.gguf one.gguf; echo "exit $?"
# Against a float they are numbers where that is asked for.
btftool -q diff "$files/mixed.gguf" "$files/mixed.btf"; echo "exit $?"
btftool -q diff --dequantize "$files/mixed.gguf" "$files/mixed.btf"; echo "exit $?"
