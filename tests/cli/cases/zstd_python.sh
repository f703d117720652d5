# python3-zstandard and this tool read each other's files.
needs python3 -c 'import zstandard'
btftool convert "$TESTDATA/good/mixed.btf" ours.zst
python3 - "$TESTDATA/good/mixed.btf" <<'PYTHON'
import sys
import zstandard

content = open(sys.argv[1], "rb").read()
with open("ours.zst", "rb") as ours:
    if zstandard.ZstdDecompressor().stream_reader(ours, read_across_frames=True).read() != content:
        print("python reads something else")

def write(name, *frames):
    with open(name, "wb") as out:
        out.write(b"".join(frames))

plain = zstandard.ZstdCompressor(level=3)
write("one.zst", plain.compress(content))
write("many.zst", *[plain.compress(content[at:at + 500]) for at in range(0, len(content), 500)])
write("unsized.zst", zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compress(content))
samples = [content[at:at + 64] for at in range(0, len(content), 8)]
dictionary = zstandard.train_dictionary(1024, samples)
write("dictionary.zst", zstandard.ZstdCompressor(dict_data=dictionary).compress(content))
PYTHON
for file in one many unsized; do
  btftool convert $file.zst out.btf && cmp out.btf "$TESTDATA/good/mixed.btf"
done
btftool inspect dictionary.zst 2>&1 | grep -q 'it needs a dictionary' || echo "a dictionary is not seen"
