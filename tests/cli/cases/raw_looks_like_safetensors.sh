# Raw bytes that begin as a safetensors file does, a length and JSON: with a spec their number tells which they are.
printf '\200\202{\202~\200z}{}{\201' >scales.bin
spec=float8_e8m0fnu:12
btftool inspect --values --input-spec $spec scales.bin
btftool inspect --values --input-spec $spec - <scales.bin
cat scales.bin | btftool inspect --values --input-spec $spec -
cp scales.bin x.output.12.uint8.raw && btftool inspect x.output.12.uint8.raw

# A part of a file is what the manifest says.
{ printf '????' && cat scales.bin scales.bin; } >both.bin
echo '{"schema": "btftool/manifest/1", "tensors": [' >manifest.json
echo '  {"name": "a", "file": "both.bin", "offset": 4, "spec": "'$spec'"},' >>manifest.json
echo '  {"name": "b", "file": "both.bin", "offset": 16, "spec": "u8:12"}]}' >>manifest.json
btftool inspect --values manifest.json

# Of another size it is neither.
btftool inspect --input-spec u8:13 scales.bin
