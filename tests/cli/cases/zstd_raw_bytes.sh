# Raw bytes that begin as zstd does: with a spec their number tells which they are.
three_ways() {
  btftool inspect --values --input-spec "$1" "$2"
  btftool inspect --values --input-spec "$1" - <"$2"
  cat "$2" | btftool inspect --values --input-spec "$1" -
}
{ printf '\x28\xb5\x2f\xfd' && printf '%b' '\1\2\3\4\5\6\7\10\11\12\13\14'; } >frame
three_ways u8:16 frame
# A skippable frame, which is a whole zstd file without content.
{ printf '\x50\x2a\x4d\x18\x08\0\0\0' && printf 'abcdefgh'; } >skippable
three_ways u8:16 skippable
cat skippable >x.output.16.uint8.raw && btftool inspect x.output.16.uint8.raw
btftool validate --input-spec u8:16 frame
btftool convert --input-spec u8:16 frame out.btf && tail -c 16 out.btf | cmp - frame
btftool diff -q --actual-spec u8:16 --golden-spec u8:16 frame frame || echo differs

# Raw bytes that are compressed stay that, also where the file has as many bytes as its content.
head -c 1000 /dev/zero | zstd -q --no-progress >zeros.zst
rest=$((1000 - $(stat -c %s zeros.zst) - 8))
{
  cat zeros.zst && printf '\x50\x2a\x4d\x18' && printf '%b' "$(printf '\\x%02x\\x%02x\\0\\0' $((rest % 256)) $((rest / 256)))"
  head -c $rest /dev/zero | tr '\0' '\7'
} >padded
for file in zeros.zst padded; do
  btftool convert --input-spec u8:1000 $file out.btf && tail -c 1000 out.btf | cmp - <(head -c 1000 /dev/zero)
  cat $file | btftool convert --input-spec u8:1000 - out.btf && tail -c 1000 out.btf | cmp - <(head -c 1000 /dev/zero)
done

# Of another size they are neither.
three_ways u8:17 frame
three_ways u8:8 skippable
