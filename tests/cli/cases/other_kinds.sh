# Files of other kinds are called by their names, and what is neither known nor BTF may be raw bytes.
kind() {
  printf "$2" >"$1"
  btftool inspect "$1"; echo "exit $?"
}
kind m.h5 '\x89HDF\r\n\x1a\n'
kind image.png '\x89PNG\r\n\x1a\n'
kind image.jpg '\xff\xd8\xff\xe0'
kind paper.pdf '%%PDF-1.7\n'
kind program '\x7fELF\x02\x01\x01'
kind out.npy.gz '\x1f\x8b\x08\0'
kind out.xz '\xfd7zXZ\0'
kind model.tflite '\x1c\0\0\0TFL3\0\0\0\0'
kind model.ort '\x18\0\0\0ORTM\0\0\0\0'
kind model.engine 'ftrt\0\0\0\0\0\0\0\1'
kind dump.pkl '\x80\x04\x95\x10\0\0\0\0\0\0\x01}\x94.'
kind old.pt '\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e'
kind model.mlmodel '\x08\x05\x12\xff\xff\xff\xff\xff'
kind values.txt '1.0 2.0 3.0\n'
kind other.json '{"a": [1, 2]}\n'
kind profile.json '[\n{ "count" : 10 }\n, { "name" : "conv", "timeMs" : 1.5 }\n]\n'
kind layers.json '{"Layers": ["a"]}\n'
kind times.json '[\n{ "startEnqMs" : 0.1 }\n]\n'
kind junk.bin '\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8'
kind junk.btf '\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8'
kind model.pte '\x1c\0\0\0ET12\0\0\0\0'
python3 - <<'END'
import zipfile
for name, member in (("m.keras", "model.weights.h5"), ("m.pt2", "m/archive_format")):
    with zipfile.ZipFile(name, "w") as archive:
        archive.writestr(member, b"x")
END
btftool inspect m.keras; echo "exit $?"
btftool inspect m.pt2; echo "exit $?"
btftool validate m.h5; echo "exit $?"
btftool convert m.h5 out.btf; echo "exit $?"
btftool diff m.h5 "$TESTDATA/good/mixed.btf"; echo "exit $?"
btftool inspect - <image.png; echo "exit $?"
