# Every command takes GGUF: by name, through pipes, compressed, in parts; blocks are numbers with --dequantize.
needs zstd --version
files=$TESTDATA/gguf
btftool inspect "$files/mixed.gguf"
btftool inspect --json --tensor blk.0.w "$files/mixed.gguf"; echo
btftool inspect --values 3 --tensor tokens "$files/mixed.gguf"
btftool inspect --stats --tensor blk.0.w "$files/mixed.gguf"; echo "exit $?"
btftool validate "$files/mixed.gguf" "$files/plain.gguf"; echo "exit $?"
btftool diff "$files/mixed.gguf" "$files/mixed.btf" | tail -n 1; echo "exit ${PIPESTATUS[0]}"
btftool convert "$files/mixed.gguf" out.btf; echo "exit $?"
btftool convert --exclude blk.0.w "$files/mixed.gguf" out.btf && btftool inspect out.btf
btftool convert --dequantize "$files/mixed.gguf" out.btf && btftool inspect out.btf && btftool diff out.btf "$files/mixed.btf"
btftool convert --dequantize --json --tensor blk.0.w --dtype fp16 --slice '1,::2' "$files/mixed.gguf" half.npy
btftool inspect --values 4 half.npy
btftool convert --dequantize "$files/every.gguf" out.btf; echo "exit $?"
btftool diff <(cat "$files/blocks.gguf" | btftool convert --dequantize - -) "$files/blocks.btf" --pair-by number | tail -n 1

echo "== in parts"
btftool inspect "$TESTDATA/gguf-split/tiny-00001-of-00003.gguf"
btftool inspect "$TESTDATA/gguf-split" | head -n 3
btftool convert --names drop "$TESTDATA/gguf-split/tiny-00001-of-00003.gguf" whole.btf && cmp whole.btf "$files/split_whole.btf"
btftool inspect "$TESTDATA/gguf-split/tiny-00002-of-00003.gguf" | head -n 1
mkdir gone && cp "$TESTDATA"/gguf-split/tiny-0000[13]* gone
btftool inspect gone/tiny-00001-of-00003.gguf | tail -n 1; echo "exit ${PIPESTATUS[0]}"
btftool inspect gone | tail -n 1; echo "exit ${PIPESTATUS[0]}"
btftool convert gone/tiny-00001-of-00003.gguf x.btf; echo "exit $?"
cp gone/tiny-00003* gone/tiny-00002-of-00003.gguf && btftool validate gone; echo "exit $?"
cp "$TESTDATA"/gguf-split/tiny-00002* gone/other-00002-of-00002.gguf && btftool inspect gone/other* | head -n 1

echo "== streams"
(cat "$files/plain.gguf"; yes) | btftool inspect - | head -n 1; echo "exit ${PIPESTATUS[1]}"
head -c 500 "$files/plain.gguf" | btftool inspect -; echo "exit $?"
(head -c 1000 "$files/plain_v2.gguf" | zstd -qc; tail -c +1001 "$files/plain_v2.gguf" | zstd -qc) >two.zst
btftool diff two.zst "$files/plain_v2.gguf" | tail -n 1
(head -c 1000 "$files/plain_v2.gguf" | zstd -qc; tail -c +1001 "$files/plain_v2.gguf" | head -c 100 | zstd -qc) >cut.zst
btftool inspect cut.zst; echo "exit $?"
head -c 30000000 /dev/zero | zstd -qc >zeros && (zstd -qc "$files/plain.gguf"; cat zeros) >bomb.zst
btftool inspect bomb.zst; echo "exit $?"
btftool convert "$files/plain.gguf" x.gguf; echo "exit $?"
btftool convert --format gguf "$files/plain.gguf" x; echo "exit $?"
btftool inspect --input-spec fp16 "$files/plain.gguf"; echo "exit $?"
